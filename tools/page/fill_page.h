// Pages of results that need nothing else: a template, with the data in it.
#ifndef TILEWRIGHT_TOOLS_PAGE_FILL_PAGE_H_
#define TILEWRIGHT_TOOLS_PAGE_FILL_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tilewright::tools {

// `page` with `json` where it says @DATA@, inside a script element.
std::string FillPage(absl::string_view page, absl::string_view json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PAGE_FILL_PAGE_H_

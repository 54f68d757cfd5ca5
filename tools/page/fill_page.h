// Pages of results that need nothing else: a template, with the data in it.
#ifndef TILEWRIGHT_TOOLS_PAGE_FILL_PAGE_H_
#define TILEWRIGHT_TOOLS_PAGE_FILL_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tilewright::tools {

// `page` with `json` where it says @DATA@, inside a script element.
std::string FillPage(absl::string_view page, absl::string_view json);

// "resnet18/model.onnx" of ".../resnet18/model.onnx": the title of a page.
std::string TitleOf(const std::string& path);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PAGE_FILL_PAGE_H_

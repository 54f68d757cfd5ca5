#ifndef TILEWRIGHT_TOOLS_TUNE_PAGE_TEMPLATE_H_
#define TILEWRIGHT_TOOLS_TUNE_PAGE_TEMPLATE_H_

#include "absl/strings/string_view.h"

namespace tilewright::tools {

// page.html, for FillPage.
absl::string_view TunePageTemplate();

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_PAGE_TEMPLATE_H_

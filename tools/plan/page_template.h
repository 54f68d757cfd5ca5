#ifndef TILEWRIGHT_TOOLS_PLAN_PAGE_TEMPLATE_H_
#define TILEWRIGHT_TOOLS_PLAN_PAGE_TEMPLATE_H_

#include "absl/strings/string_view.h"

namespace tilewright::tools {

// page.html, with @PICTURE@ before @DATA@.
absl::string_view PlanPageTemplate();

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_PAGE_TEMPLATE_H_

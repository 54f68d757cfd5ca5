#include "tools/page/fill_page.h"

#include "absl/strings/str_replace.h"

namespace tilewright::tools {

std::string FillPage(absl::string_view page, absl::string_view json) {
  // Inside a script element only "</" could end the text early.
  const std::string data = absl::StrReplaceAll(json, {{"</", "<\\/"}});
  return absl::StrReplaceAll(page, {{"@DATA@", data}});
}

std::string TitleOf(const std::string& path) {
  return path.substr(path.rfind('/', path.rfind('/') - 1) + 1);
}

}  // namespace tilewright::tools

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/profile/page_template.h"
#include "tools/profile/print.h"

namespace tilewright::tools {

std::string ProfilePage(const Profile& profile, absl::string_view title) {
  Json json;
  json.Open('{').Key("title").Text(title).Key("profile");
  AppendProfile(profile, json);
  json.Close('}');
  // Inside a script element only "</" could end the text early.
  const std::string data = absl::StrReplaceAll(json.text(), {{"</", "<\\/"}});
  return absl::StrReplaceAll(PageTemplate(), {{"@PROFILE@", data}});
}

}  // namespace tilewright::tools

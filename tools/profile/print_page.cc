#include "tools/page/fill_page.h"
#include "tools/profile/page_template.h"
#include "tools/profile/print.h"

namespace tilewright::tools {

std::string ProfilePage(const Profile& profile, absl::string_view title) {
  Json json;
  json.Open('{').Key("title").Text(title).Key("profile");
  AppendProfile(profile, json);
  json.Close('}');
  return FillPage(kPage, json.text());
}

}  // namespace tilewright::tools

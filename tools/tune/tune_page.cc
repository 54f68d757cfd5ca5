#include "tools/tune/tune_page.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "tools/page/fill_page.h"
#include "tools/tune/page_template.h"
#include "base/option_parser.h"

namespace tilewright::tools {
namespace {

constexpr int64_t kMostTraceBytes = int64_t{1} << 30;

bool Parse(absl::string_view line, google::protobuf::Struct& object) {
  object.Clear();
  return google::protobuf::util::JsonStringToMessage(
             std::string(line.data(), line.size()), &object)
      .ok();
}

}  // namespace

absl::StatusOr<std::string> TunePage(absl::string_view trace) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(trace, '\n', absl::SkipWhitespace());
  std::string events;
  for (size_t i = 0; i < lines.size(); ++i) {
    google::protobuf::Struct object;
    if (!Parse(lines[i], object)) {
      if (i > 0 && i + 1 == lines.size()) break;
      return absl::InvalidArgumentError(
          absl::StrCat("line ", i + 1, " of the trace is no JSON object"));
    }
    const auto event = object.fields().find("event");
    if (i == 0 && (event == object.fields().end() ||
                   event->second.string_value() != "run")) {
      return absl::InvalidArgumentError(
          "its first line is not that of a search's trace: {\"event\": "
          "\"run\", ...}");
    }
    absl::StrAppend(&events, i == 0 ? "" : ",\n", lines[i]);
  }
  if (events.empty()) return absl::InvalidArgumentError("the trace is empty");
  return FillPage(kPage, absl::StrCat("[", events, "]"));
}

absl::Status WriteTunePage(const std::string& trace, const std::string& page) {
  TW_ASSIGN_OR_RETURN(const std::string text,
                      ReadFile(UserPath(trace), kMostTraceBytes));
  const absl::StatusOr<std::string> html = TunePage(text);
  if (!html.ok()) {
    return absl::Status(html.status().code(),
                        absl::StrCat(trace, ": ", html.status().message()));
  }
  return WriteFileAtomically(UserPath(page), *html);
}

}  // namespace tilewright::tools

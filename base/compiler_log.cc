#include "base/compiler_log.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/string_view.h"

namespace tilewright {

std::string FirstError(std::string_view log) {
  absl::string_view first;
  for (absl::string_view line : absl::StrSplit(ToAbsl(log), '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::StrContains(line, "error")) return std::string(line);
    if (first.empty()) first = line;
  }
  return std::string(first);
}

}  // namespace tilewright

#include "sketch/annotations.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

// The option taken. "auto" is the first.
std::string DecideOption(Decider& decider, const char* name,
                         std::vector<std::string> options) {
  const int64_t option = decider.DecideNumber(name, Space::OneOf(options),
                                              [] { return int64_t{0}; });
  return options[option];
}

}  // namespace

void DecideReduceAnnotations(Decider& decider, ScheduleWriter& writer,
                             Handle loop) {
  const std::string unroll =
      DecideOption(decider, "unroll", {"auto", "1", "2", "4", "8"});
  if (unroll != "auto") writer.Annotate(loop, absl::StrCat("unroll=", unroll));
  const std::string prefetch = DecideOption(
      decider, "prefetch", {"auto", "none", "1", "2", "4", "8", "16"});
  if (prefetch != "auto") {
    writer.Annotate(
        loop, absl::StrCat("prefetch=", prefetch == "none" ? "0" : prefetch));
  }
}

}  // namespace tilewright::sketch

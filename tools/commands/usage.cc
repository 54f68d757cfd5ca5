#include "tools/commands/usage.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/option_parser.h"

namespace tilewright::tools {
namespace {

constexpr char kUsagePayload[] = "tilewright/usage";

}  // namespace

absl::Status Usage(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

bool IsUsage(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

absl::StatusOr<std::string> OnlyModel(const CommandLine& line) {
  if (line.positional().size() == 1) return UserPath(line.positional()[0]);
  return Usage(absl::StrCat("'", line.command(), "' takes one model, got ",
                            line.positional().size(),
                            "; see 'tilewright --help'"));
}

}  // namespace tilewright::tools

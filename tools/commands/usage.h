// Errors of a command line are the user's to mend: exit status 2.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_USAGE_H_
#define TILEWRIGHT_TOOLS_COMMANDS_USAGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

// InvalidArgument, marked as bad usage.
absl::Status Usage(absl::string_view message);
bool IsUsage(const absl::Status& status);

// The one positional argument, as a path of the user's; bad usage otherwise.
absl::StatusOr<std::string> OnlyModel(const CommandLine& line);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_USAGE_H_

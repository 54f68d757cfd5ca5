// The commands of tilewright, one source file each. They print results to
// stdout; what went wrong is the Status.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_H_
#define TILEWRIGHT_TOOLS_COMMANDS_H_

#include "absl/status/status.h"
#include "tools/command_line.h"

namespace tilewright::tools {

absl::Status CompileCommand(const CommandLine& line);
absl::Status RunCommand(const CommandLine& line);
absl::Status BenchmarkCommand(const CommandLine& line);
absl::Status InspectCommand(const CommandLine& line);
absl::Status ConformanceCommand(const CommandLine& line);
absl::Status DevicesCommand(const CommandLine& line);
absl::Status RecordsCommand(const CommandLine& line);

// The one positional argument, as a path of the user's; InvalidArgument
// otherwise. Usage errors carry kUsagePayload.
absl::StatusOr<std::string> OnlyModel(const CommandLine& line);

// Marks a Status as bad usage: exit status 2.
absl::Status Usage(absl::string_view message);
bool IsUsage(const absl::Status& status);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_H_

// The commands of tilewright, one source file each. They print results to
// stdout; what went wrong is the Status.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_COMMANDS_H_
#define TILEWRIGHT_TOOLS_COMMANDS_COMMANDS_H_

#include "absl/status/status.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

absl::Status CompileCommand(const CommandLine& line);
absl::Status RunCommand(const CommandLine& line);
absl::Status BenchmarkCommand(const CommandLine& line);
absl::Status InspectCommand(const CommandLine& line);
absl::Status ConformanceCommand(const CommandLine& line);
absl::Status DevicesCommand(const CommandLine& line);
absl::Status RecordsCommand(const CommandLine& line);
absl::Status TuneCommand(const CommandLine& line);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_COMMANDS_H_

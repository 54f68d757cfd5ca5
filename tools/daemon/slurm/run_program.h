// Other programs, as functions.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SLURM_RUN_PROGRAM_H_
#define TILEWRIGHT_TOOLS_DAEMON_SLURM_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::daemon {

// What the program prints; it is looked for in PATH, and gets these arguments
// as they are. Unavailable, with the first line of what it said: it is not
// there, or fails.
absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& command);

// A word of a shell's command line that means these bytes.
std::string ShellWord(const std::string& bytes);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SLURM_RUN_PROGRAM_H_

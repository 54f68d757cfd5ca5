// The conditions under which a flag has an effect: a flag that does nothing is
// a mistake of whoever gave it, and it is told.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_FLAG_EFFECTS_H_
#define TILEWRIGHT_TOOLS_COMMANDS_FLAG_EFFECTS_H_

#include "absl/status/status.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

// InvalidArgument, for the first flag given that has no effect on this command,
// model and other flags, says why and what to do. What hangs on the device spec
// (--allow, GPUs) is checked where the spec is known.
absl::Status CheckEffects(const CommandLine& line);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_FLAG_EFFECTS_H_

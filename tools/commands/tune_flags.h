// The options of a search, from the command line of 'tilewright tune'.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_TUNE_FLAGS_H_
#define TILEWRIGHT_TOOLS_COMMANDS_TUNE_FLAGS_H_

#include "tools/commands/command_line.h"
#include "tools/tune/tune_options.h"

namespace tilewright::tools {

TuneOptions TuneOptionsFrom(const CommandLine& line);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_TUNE_FLAGS_H_

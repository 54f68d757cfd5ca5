// A program as a child that ends with this process, however that ends.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MODELS_CHILD_PROGRAM_H_
#define TILEWRIGHT_TOOLS_DAEMON_MODELS_CHILD_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/cancellation.h"

namespace tilewright::daemon {

// Called first in main: becomes the program that RunChild named, and does not
// return then.
void RunChildIfAsked(int argc, char** argv);

// Runs it to its end; what it prints goes to the file `output`, which is made
// anew. Cancelled: it was interrupted (SIGINT) when `interrupt` was cancelled,
// or killed when `end` was. Unavailable, with the last line that it printed: it
// failed. REQUIRES: this thread lives until then; the child is lost with it.
absl::Status RunChild(const std::vector<std::string>& command,
                      const std::string& output, const Cancellation& interrupt,
                      const Cancellation& end);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MODELS_CHILD_PROGRAM_H_

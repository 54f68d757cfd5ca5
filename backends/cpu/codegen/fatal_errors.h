// LLVM ends the process where it gives up: an operation that no instruction
// does, no register left. A compiler that tries candidates must live on.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_FATAL_ERRORS_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_FATAL_ERRORS_H_

#include <functional>

#include "absl/status/status.h"

namespace tilewright::cpu {

// Runs `work`, or as much of it as LLVM does before a fatal error: true, and
// then `status` is work's; false, and then `status` is Internal with LLVM's
// message. In the second case nothing that `work` had on its stack was
// destroyed, so what it used (module, context) may be in any state: it must
// never be touched or destroyed again. Thread-safe; other threads' fatal errors
// still end the process.
bool RunToFatalError(const std::function<absl::Status()>& work,
                     absl::Status& status);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_FATAL_ERRORS_H_

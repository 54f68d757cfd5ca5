// LLVM ends the process where it gives up: an operation that no instruction
// does, no register left. A compiler that tries candidates must live on.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_FATAL_ERRORS_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_FATAL_ERRORS_H_

#include <functional>

#include "absl/status/status.h"

namespace tilewright::cpu {

// So often a process may give up before RunToFatalError refuses further work.
inline constexpr int kMostFatalErrors = 256;

// Runs `work` on a thread of its own and waits for it. True: `work` returned,
// and `status` is what it returned. False: LLVM raised a fatal error, and
// `status` is Internal with its message. True with ResourceExhausted: `work`
// was not begun, because no thread could be started or because kMostFatalErrors
// threads are already lost.
//
// LLVM's handler of fatal errors must not return, and nothing may unwind or
// jump over LLVM's frames, which are compiled without exceptions. So the thread
// that met the error never leaves the handler: it sleeps, with its stack and
// all objects on it intact, until the process ends. What `work` used (module,
// context) belongs to that thread from then on and must never be touched or
// destroyed by others. Other compilations are not affected, because
//   - LLVM calls the handler after it has released its own mutex
//   (ErrorHandling),
//   - contexts, modules, pass managers and target machines are one thread's,
//   - the process-wide registries (passes, targets, options) are locked only
//   for
//     a lookup or an insertion, which raises no fatal error.
// For the same reasons `work` must not hold a lock that others wait for.
//
// Thread-safe. Fatal errors of threads that do not run `work` end the process.
bool RunToFatalError(const std::function<absl::Status()>& work,
                     absl::Status& status);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_FATAL_ERRORS_H_

#include "backends/cpu/codegen/fatal_errors.h"

#include <csetjmp>
#include <cstdio>
#include <string>

#include "backends/cpu/codegen/llvm_status.h"
#include "llvm/Support/ErrorHandling.h"

namespace tilewright::cpu {
namespace {

struct Recovery {
  std::jmp_buf point;
  std::string message;
};
thread_local Recovery* innermost = nullptr;

// An exception cannot pass LLVM, which is built without them; its own
// CrashRecoveryContext jumps in the same way, but takes over signals too.
void OnFatalError(void*, const char* reason, bool) {
  if (innermost == nullptr) {
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;  // and LLVM ends the process
  }
  innermost->message = reason;
  std::longjmp(innermost->point, 1);
}

}  // namespace

bool RunToFatalError(const std::function<absl::Status()>& work,
                     absl::Status& status) {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(OnFatalError);
    return true;
  }();
  (void)installed;
  Recovery recovery;
  Recovery* const outer = innermost;
  innermost = &recovery;
  if (setjmp(recovery.point) == 0) {
    status = work();
    innermost = outer;
    return true;
  }
  innermost = outer;
  status = LlvmError("LLVM gives up", recovery.message);
  return false;
}

}  // namespace tilewright::cpu

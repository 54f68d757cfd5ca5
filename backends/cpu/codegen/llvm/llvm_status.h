// LLVM's ways to complain, as Status. The only place that converts them.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_LLVM_STATUS_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_LLVM_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tilewright::cpu {

// Internal: "WHAT: DETAIL", on one line.
absl::Status LlvmError(std::string_view what, std::string_view detail);
// Consumes `error`.
absl::Status LlvmError(std::string_view what, llvm::Error error);

// Collects what the back end reports (unsupported operations, frames that are
// too large) while it stands; without one, LLVM prints and exits.
class DiagnosticCollector {
 public:
  explicit DiagnosticCollector(llvm::LLVMContext& context);
  // Internal with the first error reported so far, or Ok.
  absl::Status status() const;

 private:
  std::string first_error_;
};

// Internal with the verifier's first complaint, or Ok.
absl::Status VerifyLlvmModule(const llvm::Module& module);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_LLVM_STATUS_H_

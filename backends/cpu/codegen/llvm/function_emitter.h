// The frame of a kernel's LLVM function: its signature (kernel_abi.h), blocks,
// variables and loops.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_FUNCTION_EMITTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_FUNCTION_EMITTER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tilewright::cpu {

class FunctionEmitter {
 public:
  // Adds the function to `module`, and sets `b` to its entry. All must outlive
  // it.
  FunctionEmitter(const std::string& name, const CpuTarget& target,
                  llvm::Module& module, llvm::IRBuilderBase& b);

  llvm::Value* Argument(unsigned i) const { return function_->getArg(i); }
  llvm::BasicBlock* NewBlock(const std::string& name);
  llvm::AllocaInst* NewVariable(llvm::Type* type, const std::string& name);

  // for (v = begin; v < end; v += step) body(v), tested at the bottom. Returns
  // the first v that is not below `end`.
  absl::StatusOr<llvm::Value*> Loop(
      llvm::Value* begin, llvm::Value* end, int64_t step,
      const std::function<absl::Status(llvm::Value*)>& body);

  // Turns all variables into values, once the function is complete.
  void PromoteVariables();

 private:
  llvm::IRBuilderBase& b_;
  llvm::Function* function_;
  std::vector<llvm::AllocaInst*> variables_;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_FUNCTION_EMITTER_H_

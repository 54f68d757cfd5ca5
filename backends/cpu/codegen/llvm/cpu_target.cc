#include "backends/cpu/codegen/llvm/cpu_target.h"

#include <optional>

#include "backends/cpu/codegen/llvm/llvm_status.h"
#include "llvm/MC/TargetRegistry.h"

namespace tilewright::cpu {

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateTargetMachine(
    const CpuTarget& target) {
  target.initialize();
  std::string error;
  const llvm::Target* llvm_target =
      llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (llvm_target == nullptr) return LlvmError("no back end", error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return LlvmError("no target machine", target.triple);
  return machine;
}

void SetFunctionAttributes(const CpuTarget& target, llvm::Function& function) {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("target-cpu", target.cpu);
  function.addFnAttr("target-features", target.features);
  function.addFnAttr("tune-cpu", target.tune);
  function.addFnAttr("prefer-vector-width",
                     std::to_string(8 * target.vector_bytes));
  function.addFnAttr("frame-pointer", "none");
  function.addFnAttr("no-builtins");
  function.addFnAttr("no-jump-tables", "true");
}

}  // namespace tilewright::cpu

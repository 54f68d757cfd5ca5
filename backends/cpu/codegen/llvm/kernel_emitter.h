// One scalar-tier kernel as an LLVM function of the kernel ABI.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_KERNEL_EMITTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_KERNEL_EMITTER_H_

#include "absl/status/status.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "llvm/IR/Module.h"

namespace tilewright::cpu {

// Appends the function `kernel.name` to `module`, in SSA form with common
// subexpressions removed: ready for instruction selection, no further pass of
// LLVM's middle end is wanted. Loops are laid out `unroll` iterations in a row.
// REQUIRES: the kernel is verified. Unimplemented names an operation the target
// has no instruction for.
absl::Status EmitKernel(const kernel_ir::ScalarKernel& kernel,
                        const CpuTarget& target, llvm::Module& module);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_KERNEL_EMITTER_H_

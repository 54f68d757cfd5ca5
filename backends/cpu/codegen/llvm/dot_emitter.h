// Sums of short groups of products of narrow numbers, as LLVM IR.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_DOT_EMITTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_DOT_EMITTER_H_

#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "llvm/IR/IRBuilder.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::cpu {

// DotInst of backends/kernel_ir/scalar_inst.h on the registers' LLVM values: the
// target's own instruction, or written out term by term.
llvm::Value* EmitDot(llvm::IRBuilderBase& b, const CpuTarget& target,
                     const DotIntrinsic& dot, llvm::Value* acc, llvm::Value* x,
                     llvm::Value* y);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_DOT_EMITTER_H_

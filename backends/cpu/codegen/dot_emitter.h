// Sums of short groups of products of narrow numbers, as LLVM IR.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_DOT_EMITTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_DOT_EMITTER_H_

#include "backends/cpu/codegen/cpu_target.h"
#include "llvm/IR/IRBuilder.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::cpu {

// DotInst of backends/kernel_ir/scalar_ir.h on the registers' LLVM values.
// One instruction where the class has one (VNNI, AVX512_BF16) and the lanes
// fill a register. u8 with s8 otherwise takes four: PMADDWD on the even and on
// the odd bytes, widened, which cannot saturate. All else is written out.
llvm::Value* EmitDot(llvm::IRBuilderBase& b, const CpuTarget& target,
                     const DotIntrinsic& dot, llvm::Value* acc, llvm::Value* x,
                     llvm::Value* y);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_DOT_EMITTER_H_

// Sums of short groups of products of narrow numbers: VNNI, AVX512_BF16 and
// PMADDWD.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_DOT_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_DOT_H_

#include "backends/cpu/codegen/x86/x86_instructions.h"
#include "llvm/IR/IRBuilder.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::cpu {

// DotInst of backends/kernel_ir/scalar_inst.h where the lanes fill a register:
// one instruction where the class has one. u8 with s8 otherwise takes four:
// PMADDWD on the even and on the odd bytes, widened, which cannot saturate.
// Null for all else.
llvm::Value* EmitX86Dot(llvm::IRBuilderBase& b, const X86Features& features,
                        const DotIntrinsic& dot, llvm::Value* acc,
                        llvm::Value* x, llvm::Value* y);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_DOT_H_

// max and min of floats as LLVM IR: NaN if either side is NaN, -0 below +0.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_EXTREME_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_EXTREME_H_

#include "llvm/IR/IRBuilder.h"

namespace tilewright::cpu {

// Two instructions for relu, three with AVX-512DQ, whose RANGE orders zeros;
// otherwise what LLVM makes of its intrinsic, five or six. With AVX-512DQ an
// extreme of an extreme takes one more, and half of one that looks for NaN.
llvm::Value* EmitMax(llvm::IRBuilderBase& b, bool range,
                     llvm::Value* x, llvm::Value* y);
llvm::Value* EmitMin(llvm::IRBuilderBase& b, bool range,
                     llvm::Value* x, llvm::Value* y);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_EXTREME_H_

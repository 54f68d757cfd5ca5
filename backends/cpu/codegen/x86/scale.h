// Multiplication by powers of two: VSCALEFPS and its like.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_SCALE_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_SCALE_H_

#include "llvm/IR/IRBuilder.h"

namespace tilewright::cpu {

// a * 2^floor(n) lane by lane, rounded once. Floats or doubles of any number
// of lanes. REQUIRES: CpuTarget::scale.
llvm::Value* EmitScale(llvm::IRBuilderBase& b, llvm::Value* a, llvm::Value* n);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_SCALE_H_

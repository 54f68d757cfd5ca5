// Instructions of whole registers for vectors of any number of lanes.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_BY_REGISTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_BY_REGISTER_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace tilewright::cpu {

// Lanes of a vector; 1 of a scalar.
int LanesOf(const llvm::Value* value);

// `emit` applied to `width` lanes of every operand at a time, undefined ones
// behind the last; the results in a row. Operands have equal lanes (a scalar:
// one), and so has the result; `emit` gives a vector of `width` lanes.
llvm::Value* ByRegister(
    llvm::IRBuilderBase& b, unsigned width,
    llvm::ArrayRef<llvm::Value*> operands,
    llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> emit);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_BY_REGISTER_H_

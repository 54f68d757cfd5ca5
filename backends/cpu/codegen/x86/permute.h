// Tables of bytes, read at bytes.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_PERMUTE_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_PERMUTE_H_

#include "llvm/IR/IRBuilder.h"

namespace tilewright::cpu {

// table[source[i]] for each lane i, of any number: two VPERMI2B, each of which
// reads 128 bytes, and the sign of the byte says which of them it is. REQUIRES:
// AVX512_VBMI, a table of 256 bytes.
llvm::Value* EmitPermute(llvm::IRBuilderBase& b, llvm::Value* source,
                         llvm::Value* table);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_PERMUTE_H_

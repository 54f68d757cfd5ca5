// Conversions between element types, as LLVM IR that calls nothing.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_CONVERT_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_CONVERT_H_

#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "llvm/IR/IRBuilder.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::cpu {

// The LLVM type of a register: i1 for bool, float for fp16 and bf16; a vector
// if lanes > 1.
llvm::Type* RegisterLlvmType(llvm::LLVMContext& context, DType dtype,
                             int lanes);
// The type of elements in memory: i8 for bool, half or i16 for fp16, i16 for
// bf16.
llvm::Type* MemoryLlvmType(llvm::LLVMContext& context, const CpuTarget& target,
                           DType dtype, int lanes);

// kCast of tilegraph/expr/op.h: float to integer truncates and saturates, NaN
// gives 0.
llvm::Value* EmitCast(llvm::IRBuilderBase& b, DType to, DType from,
                      llvm::Value* value);

// Register -> memory element and back.
llvm::Value* ToMemory(llvm::IRBuilderBase& b, const CpuTarget& target,
                      DType dtype, llvm::Value* value);
llvm::Value* FromMemory(llvm::IRBuilderBase& b, const CpuTarget& target,
                        DType dtype, llvm::Value* value);

// `type` with the lanes of `like`: a vector if `like` is one.
llvm::Type* WithLanesOf(llvm::Type* scalar, llvm::Type* like);

bool IsUnsigned(DType dtype);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_CONVERT_H_

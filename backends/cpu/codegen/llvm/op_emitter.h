// One arithmetic operation as LLVM IR.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_OP_EMITTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_OP_EMITTER_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "llvm/IR/IRBuilder.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::cpu {

// `op` with the semantics of tilegraph/expr/op.h on registers of
// `operand_dtype` (for kSelect that of the branches), giving a register of
// `dtype`. No call remains in the code. Unimplemented for functions that
// lowering:ExpandFunctions should have replaced.
absl::StatusOr<llvm::Value*> EmitOp(llvm::IRBuilderBase& b,
                                    const CpuTarget& target, Op op, DType dtype,
                                    DType operand_dtype,
                                    absl::Span<llvm::Value* const> operands);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_OP_EMITTER_H_

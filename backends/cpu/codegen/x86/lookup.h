// Small tables in a register: VPERMPS.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_LOOKUP_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_LOOKUP_H_

#include "absl/types/span.h"
#include "llvm/IR/IRBuilder.h"

namespace tilewright::cpu {

// values[the low four bits of `source`'s bits], lane by lane; f32 of any number
// of lanes. REQUIRES: CpuTarget::lookup, 16 values.
llvm::Value* EmitLookup(llvm::IRBuilderBase& b, llvm::Value* source,
                        absl::Span<const float> values);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_LOOKUP_H_

// Whether vectors of a register buffer are written in full as far as anybody
// reads them. Internal to vector_plan.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_MERGED_REGISTERS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_MERGED_REGISTERS_H_

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/vectorize/vector_plan.h"

namespace tilewright::lowering {

// Whether vectors of the buffer, which `plan` keeps in registers, may hold
// elements that one operation writes and another, of another extent, must leave
// alone.
bool MustMerge(const kernel_ir::Kernel& kernel, const KernelRanges& ranges,
               const VectorPlan& plan, int buffer);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_MERGED_REGISTERS_H_

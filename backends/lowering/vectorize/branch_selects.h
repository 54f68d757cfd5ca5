// A pass on the tile tier, for machines with vector registers: where loops
// alone decide selects of what stands inside them, as in which part of a
// concatenation a block of channels lies, branches decide them once. Internal
// to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BRANCH_SELECTS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BRANCH_SELECTS_H_

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

// A select of vectors computes both sides: of a concatenation of 25 quantized
// parts, all 25 for each element. A branch stands as far out as the variables
// of its condition allow, and only where either side costs clearly less than
// both.
void BranchOnSelects(kernel_ir::Kernel& kernel, const VectorTarget& target);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BRANCH_SELECTS_H_

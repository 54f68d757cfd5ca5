// A pass on the tile tier, for machines with vector registers: where selects of
// an operation keep it from reading memory in blocks (access_cost.h), as those
// of a concatenation whose parts are no multiple of a vector, or of padding
// that is transposed, its box is cut where they change. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_DECIDE_SELECTS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_DECIDE_SELECTS_H_

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

// Where loops around the box decide as well, branches tell their iterations
// apart; the one in which both happens has a box that is cut. Only what costs
// clearly less that way is touched.
void DecideSelects(kernel_ir::Kernel& kernel, const VectorTarget& target);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_DECIDE_SELECTS_H_

// A pass on the scalar tier: what a loop computes again in every iteration, and
// what never changes there, is computed before it.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_PASSES_HOIST_INVARIANTS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_PASSES_HOIST_INVARIANTS_H_

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::lowering {

// Moves constants, arithmetic and unmasked loads of inputs and constants out of
// loops that surely run. At most `max_vectors` vector values leave one loop:
// they stay in registers all through it.
void HoistInvariants(kernel_ir::ScalarKernel& kernel, int max_vectors);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_PASSES_HOIST_INVARIANTS_H_

// A pass on the tile tier: sums in registers begin whole. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_WHOLE_INITS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_WHOLE_INITS_H_

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Sums in registers begin as the identity wherever the buffer has a place, also
// where nothing is summed. What a predicate leaves out keeps its value, so that
// all registers of the buffer would be taken from the first sum of a task to
// its last, in all other stages, too.
void BeginSumsWhole(kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_WHOLE_INITS_H_

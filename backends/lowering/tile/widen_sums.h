// A pass on the tile tier: sums of threads without guards. Internal to
// lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_WIDEN_SUMS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_WIDEN_SUMS_H_

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Where some threads have fewer elements of a sum than others, because its tile
// is no multiple of what they take, these sum as often as the others: the
// register buffer gets places behind its edge, which nobody reads, and what is
// summed there is what is summed at the edge. Nothing is guarded then, where
// all threads do the same anyway. Sums of other memory, and what guards do
// beside that, stay as they are.
void WidenSums(kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_WIDEN_SUMS_H_

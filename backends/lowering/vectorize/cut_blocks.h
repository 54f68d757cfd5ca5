// A pass on the tile tier, for machines with vector registers: operations that
// read or write memory in blocks (access_cost.h) become loops over boxes of one
// block. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_CUT_BLOCKS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_CUT_BLOCKS_H_

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

// The loops stand in the order of the box's axes. Operations on register
// buffers stay as they are: their boxes are laid out in a row anyway.
void CutBlocks(kernel_ir::Kernel& kernel, const VectorTarget& target);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_CUT_BLOCKS_H_

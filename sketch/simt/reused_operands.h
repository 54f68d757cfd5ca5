// Who reads what: operands that the threads of a block read more than once, and
// the readers of what it computes.
#ifndef TILEWRIGHT_SKETCH_SIMT_REUSED_OPERANDS_H_
#define TILEWRIGHT_SKETCH_SIMT_REUSED_OPERANDS_H_

#include <string>
#include <vector>

#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Whether the block reads the buffer at an index that does not depend on all
// its axes.
bool IsReused(const Block& block, int buffer);

// The buffers in memory that `block` reads at indices which do not depend on
// all its axes: threads along the others read the same elements.
std::vector<std::string> ReusedOperands(const BlockTree& tree,
                                        const Block& block);

// The blocks that read the buffer, in order.
std::vector<const Block*> ReadersOf(const BlockTree& tree, int buffer);

// Whether the block computes each element from the buffer's element in the same
// place alone.
bool IsElementwiseIn(const Block& block, int buffer);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_REUSED_OPERANDS_H_

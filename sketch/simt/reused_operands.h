// Operands that the threads of a block read more than once.
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

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_REUSED_OPERANDS_H_

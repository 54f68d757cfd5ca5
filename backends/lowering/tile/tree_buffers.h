// The buffers of a kernel from those of a block tree.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_TREE_BUFFERS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_TREE_BUFFERS_H_

#include <map>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::lowering {

// Arguments first, then locals, each in the tree's order; locals that nothing
// touches are dropped.
struct TreeBuffers {
  std::vector<kernel_ir::Buffer> buffers;
  std::map<int, int> ids;  // buffer of the tree -> of the kernel
};
TreeBuffers BuffersOf(const sketch::BlockTree& tree);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_TREE_BUFFERS_H_

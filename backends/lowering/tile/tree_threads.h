// The threads of a kernel, from the loops of a block tree that threads share
// (sketch/tree/thread_loops.h).
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_TREE_THREADS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_TREE_THREADS_H_

#include <map>

#include "backends/kernel_ir/tile_ir.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::lowering {

// The threads of a block, whole warps where loops run on lanes, 0 without such
// loops; and which of them run the iterations of each loop, by its variable.
struct TreeThreads {
  int count = 0;
  std::map<int, kernel_ir::For::Place> places;
};
TreeThreads ThreadsOf(const sketch::BlockTree& tree);

// Whether threads that share `loop` carry the reduction of a block in it.
bool CombinesThreads(const sketch::Loop& loop);

// Exchanges the loop with those that stand alone in it: threads have no order,
// and what combines them stands innermost.
void PutInnermost(kernel_ir::For& combining);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_TREE_THREADS_H_

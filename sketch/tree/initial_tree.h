// Where every replay starts.
#ifndef TILEWRIGHT_SKETCH_TREE_INITIAL_TREE_H_
#define TILEWRIGHT_SKETCH_TREE_INITIAL_TREE_H_

#include "absl/status/statusor.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// The tree with no instruction applied: one nest per compute that an output
// needs, in order, spatial loops outside reduce loops; boundary tensors are
// kGlobal buffers (in order: placeholders, constants, outputs), everything else
// kScratch. A reduction whose accumulator dtype or arity differs from its
// tensor's gets local accumulators (T.acc) and a copy out (block T.out).
absl::StatusOr<BlockTree> InitialTree(const Workload& workload);

// The same, once VerifyGraph has passed the graph that the workload's was made
// of by a rewrite; constants need no values.
absl::StatusOr<BlockTree> InitialTreeOfRewritten(const Workload& workload);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_INITIAL_TREE_H_

// Checks that a block tree means something: called on every replayed tree in
// tests, and before lowering.
#ifndef TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_VERIFIER_H_
#define TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_VERIFIER_H_

#include "absl/status/status.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Ok, or Internal naming block and fault: bindings that leave an axis' extent
// without a predicate, an axis covered twice or not at all, a buffer read
// before it is written or outside its held region, a consumer inside a reduce
// loop of its producer, kTile or kTask misplaced.
absl::Status VerifyBlockTree(const BlockTree& tree);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_BLOCK_TREE_VERIFIER_H_

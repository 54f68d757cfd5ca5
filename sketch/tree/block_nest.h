// The loops made for a block that computes a region: one per spatial axis over
// the region, then one per reduce axis over all of it. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_TREE_BLOCK_NEST_H_
#define TILEWRIGHT_SKETCH_TREE_BLOCK_NEST_H_

#include <vector>

#include "sketch/tree/block_region.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// Gives `block` new bindings (spatial axis i: region[i].base + loop i) and
// predicates (`predicates`, and the clips of the region) and the loops around
// it. New variables are taken from `tree`.
NodePtr NestOverRegion(BlockTree& tree, Block block,
                       const std::vector<HeldDim>& region,
                       std::vector<Expr> predicates);

// Makes the local buffer hold exactly `region`, row-major.
void HoldRegion(Buffer& buffer, const std::vector<HeldDim>& region);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_BLOCK_NEST_H_

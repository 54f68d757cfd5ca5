// The regions that a block iterates and touches, seen from a place in the tree:
// loops further in range over their whole extent, loops further out are fixed.
// Internal to sketch; tilegraph's Propagate finds what loads need of a tensor.
#ifndef TILEWRIGHT_SKETCH_TREE_BLOCK_REGION_H_
#define TILEWRIGHT_SKETCH_TREE_BLOCK_REGION_H_

#include <map>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/mixed_radix.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/region/region.h"

namespace tilewright::sketch {

// The values that `binding` takes while inner variables run and `predicates`
// hold: a region, exact or a hull. `extent` is that of the axis: a hull that
// cannot be told is the whole axis.
RegionDim IteratedRegion(const Expr& binding, int64_t extent,
                         const std::vector<Expr>& predicates,
                         const IsInner& is_inner, const RangeOf& ranges);

// Returns the region that `block` loads in there of each of `buffers` that it
// loads, per dimension of the tensor, by Propagate.
absl::StatusOr<std::map<int, Region>> NeededRegions(
    const BlockTree& tree, const Block& block, const std::set<int>& buffers,
    const IsInner& is_inner, const RangeOf& ranges);
// Returns the region of one of them. NotFound if the block does not load it.
absl::StatusOr<Region> NeededRegion(const BlockTree& tree, const Block& block,
                                    int buffer, const IsInner& is_inner,
                                    const RangeOf& ranges);

// The block's predicates that decide which elements it computes: those of a
// reduction that speak of its reduce loops only skip steps.
std::vector<Expr> InitPredicates(const Block& block);

// The block's predicates that do not depend on inner variables: whether it runs
// there at all.
std::vector<Expr> FixedPredicates(const Block& block, const IsInner& is_inner);

// A region as a dense box inside the tensor: step 1; a dimension that reaches
// its extent is held whole.
struct HeldDim {
  Expr base;
  int64_t extent;
  bool clip_below =
      false;  // base may be negative: elements below 0 do not exist
  bool clip_above = false;  // base + extent may exceed the tensor
};
std::vector<HeldDim> Hold(const Region& region,
                          const std::vector<int64_t>& shape,
                          const RangeOf& ranges);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_BLOCK_REGION_H_

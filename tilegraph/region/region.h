// Regions: which part of a tensor a tile of its consumer needs (Welder,
// Propagate; design: ir.md). The inference that plans is the one that lowers:
// compute_at calls it too.
#ifndef TILEWRIGHT_TILEGRAPH_REGION_REGION_H_
#define TILEWRIGHT_TILEGRAPH_REGION_REGION_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// base + [0, extent) · step, the base affine in the variables of the enclosing
// tiles. `exact`: every element is really touched and no other; otherwise a
// hull, with the reason in `why`. A region may reach outside its tensor where a
// guard (padding) keeps the load from happening: whoever uses it clips it.
struct RegionDim {
  Expr base;
  int64_t extent = 1;
  int64_t step = 1;
  bool exact = true;
  std::string why;
};
using Region = std::vector<RegionDim>;

// For the tile `axes` of compute `id` (one RegionDim per axis, spatial then
// reduce), the region of every tensor it loads. Several loads of one tensor are
// joined. `ranges` bounds the variables in the bases.
absl::StatusOr<std::map<TensorId, Region>> PropagateOne(
    const TensorGraph& graph, TensorId id, absl::Span<const RegionDim> axes,
    const RangeOf& ranges);
// The same of those tensors alone that are in `sources`.
absl::StatusOr<std::map<TensorId, Region>> PropagateTo(
    const TensorGraph& graph, TensorId id, absl::Span<const RegionDim> axes,
    const std::set<TensorId>& sources, const RangeOf& ranges);

// The region that a load at `indices` (over such axes) of a tensor of `shape`
// reads, whatever guards it.
Region RegionOfIndices(absl::Span<const Expr> indices,
                       absl::Span<const int64_t> shape,
                       absl::Span<const RegionDim> axes, const RangeOf& ranges);

// The smallest region that holds both; exact only if one holds the other or
// they join without a gap.
Region Join(const Region& a, const Region& b, const RangeOf& ranges);

// Through a whole group: from tiles of `tiles` (by tensor) to every tensor they
// need, through the computes in `inside`, whose reduce axes are taken whole
// unless `reduce_tiles[tensor]` gives one RegionDim per reduce axis.
absl::StatusOr<std::map<TensorId, Region>> Propagate(
    const TensorGraph& graph, const std::map<TensorId, Region>& tiles,
    absl::Span<const TensorId> inside,
    const std::map<TensorId, Region>& reduce_tiles, const RangeOf& ranges);

std::string ToString(const Region& region);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REGION_REGION_H_

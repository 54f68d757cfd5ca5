// Parts of region: what one load reads while the axes of its compute run over a
// tile.
#ifndef TILEWRIGHT_TILEGRAPH_REGION_REGION_IMPL_H_
#define TILEWRIGHT_TILEGRAPH_REGION_REGION_IMPL_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tilegraph/region/region.h"

namespace tilewright::region_internal {

// Inside a tile, axis i is base + step · Var(kInner + i), which runs over [0,
// extent).
inline constexpr int kInner = 1 << 29;

struct TileOfAxes {
  absl::Span<const RegionDim> axes;
  const RangeOf& outer;

  RangeOf ranges() const;
  Expr Substitute(const Expr& e) const;
};

// The variables and loads that an index reads.
struct Uses {
  bool load = false;
  bool outer = false;
  std::set<int> inner;
};

Uses UsesOf(const Expr& e);

// All values are in lo + [0, width].
struct Hull {
  Expr lo;
  int64_t width;
};
std::optional<Hull> HullOf(const Expr& e, const RangeOf& ranges);

// The region of a tensor of `shape` that a load at `indices` (over axes) reads.
Region RegionOfLoad(absl::Span<const Expr> indices,
                    absl::Span<const int64_t> shape, const TileOfAxes& tile);

// Empty if every condition in `guards` (over axes, all true where the load
// happens) holds whenever the indices are inside `shape`, or holds in the whole
// tile; else the reason: some of the region is not touched.
std::string WhyGuarded(absl::Span<const Expr> guards,
                       absl::Span<const Expr> indices,
                       absl::Span<const int64_t> shape,
                       absl::Span<const int64_t> axis_extents,
                       const TileOfAxes& tile);

// Marks every dimension as a hull.
void MarkHull(Region& region, const std::string& why);

}  // namespace tilewright::region_internal

#endif  // TILEWRIGHT_TILEGRAPH_REGION_REGION_IMPL_H_

// The variables of a kernel, and index expressions once an axis is cut into
// vectors. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_KERNEL_RANGES_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_KERNEL_RANGES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

// Every operation with the loops around it, outermost first.
void VisitOps(
    const std::vector<kernel_ir::Stmt>& stmts,
    const std::function<void(const kernel_ir::TileOp&,
                             const std::vector<const kernel_ir::For*>& loops)>&
        fn);

// Ranges of all variables of a kernel, each of which is defined once.
class KernelRanges {
 public:
  explicit KernelRanges(const kernel_ir::Kernel& kernel);
  int64_t extent(int var) const { return extents_[var]; }
  // `lane_extent`, `chunk_extent`: of the two variables beyond the kernel's
  // own.
  RangeOf ranges(int64_t chunk_extent = 1, int64_t lane_extent = 1) const;
  int chunk_var() const { return static_cast<int>(extents_.size()); }
  int lane_var() const { return chunk_var() + 1; }

 private:
  std::vector<int64_t> extents_;
};

// The index of an element along the vector axis as chunk · lanes + lane.
Expr SplitLane(const Expr& expr, int axis_var, int lanes,
               const KernelRanges& ranges);

// How far lane 0, 1, .. lanes - 1 of an index lie from lane 0; nullopt where
// that is not constant.
std::optional<std::vector<int64_t>> LaneDistances(const Expr& index,
                                                  int lane_var, int lanes,
                                                  const RangeOf& ranges);

// Every load of an expression with the conditions of the selects that it is a
// branch of.
void VisitLoads(
    const Expr& expr,
    const std::function<void(const Expr& load,
                             const std::vector<Expr>& conditions)>& fn);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_KERNEL_RANGES_H_

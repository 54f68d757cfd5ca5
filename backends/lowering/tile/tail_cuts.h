// Where loops are cut so that predicates become decided (PartitionTails).
// Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_TAIL_CUTS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_TAIL_CUTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::lowering {

class TailCuts {
 public:
  // The ranges of all variables around what is looked at.
  Scope& scope() { return scope_; }

  // Where to cut `var` around `body`, ascending, inside (range.min,
  // range.max]. `inner`: variables whose loops count as inside of it.
  std::vector<int64_t> Of(int var, Range range,
                          const std::vector<kernel_ir::Stmt>& body,
                          absl::Span<const int> inner = {});
  // Where to cut a loop: also where boxes decide between these places, of other
  // elements in each iteration, as a window's taps at a border do. What is
  // unrolled stands side by side with the box, each step in its own place.
  std::vector<int64_t> OfLoop(const kernel_ir::For& loop);
  // The part of `range` in which every guard that `var` decides holds:
  // conditions of selects in operations for which `var` is spatial. Nullopt:
  // there is none, or it is all of `range`.
  std::optional<Range> Interior(int var, Range range,
                                const std::vector<kernel_ir::Stmt>& body);

 private:
  // Calls `fn` with the ranges of all variables around the operation known, and
  // those inside `stmts` in inner_.
  void ForEachOpInScope(
      const std::vector<kernel_ir::Stmt>& stmts,
      const std::function<void(const kernel_ir::TileOp&)>& fn);
  void Enter(int var, int64_t extent);
  void Leave(int var);

  Scope scope_;
  // Variables defined inside the loop that is being looked at.
  std::set<int> inner_;
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_TAIL_CUTS_H_

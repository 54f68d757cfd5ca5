// Where a loop decides a condition. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_DECIDED_AT_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_DECIDED_AT_H_

#include <cstdint>
#include <optional>
#include <set>

#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::lowering {

// Where a condition gets decided along a variable, whatever loops further in
// do.
struct Decided {
  bool rising;  // holds from `holds` on and fails below `fails`; falling:
                // holds below `holds` and fails from `fails` on
  int64_t holds;
  int64_t fails;
};

// `inner`: variables that are defined inside the loop over `var`. Nullopt:
// nowhere, or not by `var` alone.
std::optional<Decided> DecidedAt(int var, const Expr& condition,
                                 const Scope& scope,
                                 const std::set<int>& inner);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_DECIDED_AT_H_

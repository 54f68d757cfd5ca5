// Where the accesses of a tile operation go. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_ACCESS_FORM_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_ACCESS_FORM_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

// Where an access goes, as far as it is the same for all positions of the
// operation.
struct AccessForm {
  int buffer;
  bool in_bounds = false;  // whatever the guards say
  bool linear = true;      // positions and lane occur in plain terms only
  LinearForm rest;         // neither position nor lane
  std::vector<std::pair<int, int64_t>>
      moving;  // position variable, coefficient
  int64_t lane = 0;
  bool even = true;  // positions move it by constants, whatever lanes do
  // For an even form that is not linear: where lane 0 lies besides `moving`,
  // and how far from there each lane. Empty distances: not the same everywhere.
  LinearForm first;
  std::vector<int64_t> distances;
  Expr offset;  // what all this came from
};

// An access at one position.
struct PlacedAccess {
  LinearForm rest;
  std::optional<int64_t> lane;  // coefficient; nullopt: not linear
};

// A vector that waits for the others of its block to be stored.
struct PendingStore {
  int component;  // of the destination
  kernel_ir::Reg value;
  LinearForm first;  // where its first lane goes
  int64_t lane;      // distance of the lanes
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_ACCESS_FORM_H_

// Where a family writes the loops of a group: as a kernel of its own, or in a
// task of a group that is computed tile by tile.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_COMPUTE_LOCATION_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_COMPUTE_LOCATION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sketch/trace/rolled_part.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {

// The bounds that tiles of a stage must keep to, by dimension of its output.
struct TileBounds {
  // Whether other tasks compute other parts of the dimension. Tiles divide
  // those, for only the end of a tensor stops one.
  std::vector<bool> cut;
  // The parts of it that are computed anew; may be empty.
  std::vector<RolledPart> rolls = {};

  // Whether it does along any dimension.
  bool AnyRolls() const {
    for (const RolledPart& part : rolls) {
      if (part.rolls()) return true;
    }
    return false;
  }

  // Whether tiles of `size` elements out of `extent` along `dim` may be: they
  // stay inside what is computed there.
  bool Allow(int dim, int64_t size, int64_t extent) const {
    if (dim < 0 || cut.empty()) return true;
    if (!rolls.empty() && rolls[dim].rolls() && !rolls[dim].FitsTiles(size))
      return false;
    return !cut[dim] || StaysInside(size, extent);
  }
};

struct ComputeLocation {
  ScheduleWriter& writer;
  Decider& decider;
  // Unset: a kernel; the family cuts the output into tasks. Set: the block that
  // writes the output stands in that loop already, in one loop per axis over
  // the whole of it, and all other blocks of the group go into that loop too,
  // in tiles within `bounds`.
  std::optional<Handle> inside;
  TileBounds bounds = {};

  // Steps of one reduce axis that are taken at a time, around all tiles.
  struct ReduceBlocks {
    int axis;
    int64_t steps;
  };
  std::optional<ReduceBlocks> blocks = {};

  // Names of what the group reads from beyond the private cache of a core.
  std::set<std::string> far_inputs = {};
  // Stores of the output go past the caches.
  bool streams = false;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_COMPUTE_LOCATION_H_

// Where a family writes the loops of a group: as a kernel of its own, or in a
// task of a group that is computed tile by tile.
#ifndef TILEWRIGHT_SKETCH_PLACE_H_
#define TILEWRIGHT_SKETCH_PLACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "sketch/schedule.h"

namespace tilewright::sketch {

struct Place {
  ScheduleWriter& writer;
  // Unset: a kernel; the family cuts the output into tasks. Set: the block that
  // writes the output stands in that loop already, in one loop per axis over
  // the whole of it, and all other blocks of the group go into that loop too.
  std::optional<Handle> inside;
  // By dimension of the output, then: whether other tasks compute other parts
  // of it. Tiles divide those, for only the end of a tensor stops one.
  std::vector<bool> cut;

  // By dimension, then: whether only some of its elements are computed there,
  // one by one.
  std::vector<bool> rolls = {};

  // Steps of one reduce axis that are taken at a time, around all tiles.
  struct ReduceBlocks {
    int axis;
    int64_t steps;
  };
  std::optional<ReduceBlocks> blocks = {};

  bool IsCut(int dim) const { return inside && dim >= 0 && cut[dim]; }
  // Whether tiles of `size` elements out of `extent` along `dim` may be: they
  // stay inside what is computed there.
  bool Allows(int dim, int64_t size, int64_t extent) const {
    if (inside && dim >= 0 && !rolls.empty() && rolls[dim]) return size == 1;
    if (!IsCut(dim) || size >= extent || extent % size == 0) return true;
    // With a halo an extent may be 29: a little more is computed instead.
    for (int64_t divisor = 4; divisor <= 14; ++divisor) {
      if (extent % divisor == 0) return false;
    }
    return extent > 14 && (size - extent % size) * 8 <= extent;
  }
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_PLACE_H_

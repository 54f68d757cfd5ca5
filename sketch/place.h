// Where a family writes the loops of a group: as a kernel of its own, or in a
// task of a group that is computed tile by tile.
#ifndef TILEWRIGHT_SKETCH_PLACE_H_
#define TILEWRIGHT_SKETCH_PLACE_H_

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

  bool IsCut(int dim) const { return inside && dim >= 0 && cut[dim]; }
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_PLACE_H_

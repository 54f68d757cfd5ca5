// The parts of a dimension that each iteration of a rolling block keeps and
// computes anew.
#ifndef TILEWRIGHT_SKETCH_TRACE_ROLLED_PART_H_
#define TILEWRIGHT_SKETCH_TRACE_ROLLED_PART_H_

#include <cstdint>

namespace tilewright::sketch {

// Elements along the dimension: those of the iteration before, then new ones;
// none are new where nothing rolls.
struct RolledPart {
  int64_t kept = 0;
  int64_t fresh = 0;

  bool rolls() const { return fresh > 0; }
  // Whether tiles of `size` elements, which are computed whole, compute little
  // again: the one that begins among what is kept.
  bool FitsTiles(int64_t size) const { return 4 * (kept % size) <= fresh; }
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_ROLLED_PART_H_

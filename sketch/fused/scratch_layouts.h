// How the result of a stage lies in a task's scratch, whatever its extents:
// what is decided of it (stage_decisions.h). Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_FUSED_SCRATCH_LAYOUTS_H_
#define TILEWRIGHT_SKETCH_FUSED_SCRATCH_LAYOUTS_H_

#include <cstdint>
#include <vector>

#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

struct ScratchOrder {
  // Its dimensions, outermost first.
  std::vector<int64_t> dims;
  // Elements of dimension 1 that lie innermost, in blocks; 0: none do.
  int64_t block = 0;
};

Layout LayoutInOrder(const ScratchOrder& order,
                     const std::vector<int64_t>& shape);

// The order of a layout, whatever surrounds its elements; row-major for one
// that is of no such order.
ScratchOrder OrderOf(const Layout& layout);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_SCRATCH_LAYOUTS_H_

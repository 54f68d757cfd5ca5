// Elements of boxes; internal to the evaluator.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_EXTENTS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_EXTENTS_H_

#include <cstdint>
#include <vector>

namespace tilewright {

// The number of elements of a box.
inline int64_t Product(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

// Over some of its axes.
inline int64_t Covered(const std::vector<int64_t>& extents,
                       const std::vector<int>& axes) {
  int64_t product = 1;
  for (const int axis : axes) product *= extents[axis];
  return product;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_EXTENTS_H_

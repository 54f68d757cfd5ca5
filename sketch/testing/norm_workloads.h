// Norms over whole rows and planes for tests: mean, variance, map.
#ifndef TILEWRIGHT_SKETCH_TESTING_NORM_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_NORM_WORKLOADS_H_

#include <cstdint>

#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// X[rows, elements] over its elements, with scale and shift for each.
Workload LayerNorm(int64_t rows, int64_t elements);
// X[2, channels, height, width] over its pixels; with `halves` of f16, reduced
// in f32.
Workload InstanceNorm(int64_t channels, int64_t height, int64_t width,
                      bool halves = false);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_NORM_WORKLOADS_H_

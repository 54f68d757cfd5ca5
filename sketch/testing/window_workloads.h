// Random sliding windows for tests of the schedules that are made for them.
#ifndef TILEWRIGHT_SKETCH_TESTING_WINDOW_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_WINDOW_WORKLOADS_H_

#include <cstdint>

#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// A convolution in groups of one or a few channels, or a pooling, along one to
// three dimensions: any stride, dilation and padding, odd sizes, channels that
// fill no vector; plain, channel-blocked or channels-last; with bias and relu
// or alone. Constants are small integers. Same seed, same workload.
Workload DrawWindow(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_WINDOW_WORKLOADS_H_

// Random data movement for tests of the schedules that are made for it.
#ifndef TILEWRIGHT_SKETCH_TESTING_MOVE_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_MOVE_WORKLOADS_H_

#include <cstdint>

#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// A map that loads one to three inputs with their dimensions in any order, some
// with a step, reversed, repeated, or guarded by padding; plain and
// channel-blocked layouts, elements of one to eight bytes. Same seed, same
// workload.
Workload DrawMove(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_MOVE_WORKLOADS_H_

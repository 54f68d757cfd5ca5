// Legal schedules drawn at random, for the correctness tests of everything
// below. (A search draws from the spaces of generators: search/space.h.)
#ifndef TILEWRIGHT_SKETCH_TESTING_RANDOM_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_TESTING_RANDOM_SCHEDULE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Draws group tiles, attach points, inlining, splits with tails, reorders,
// unrolling, register and scratch accumulators, partial results of reductions,
// rolling buffers, known zeros left out, cache reads and writes, constant
// layouts and tile loops. The result replays without error on `workload`. Same
// seed, same schedule.
absl::StatusOr<Schedule> RandomSchedule(const Workload& workload,
                                        uint64_t seed);
// The same, and some loops are given to threads (random_threads.h).
absl::StatusOr<Schedule> RandomThreadedSchedule(const Workload& workload,
                                                uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_RANDOM_SCHEDULE_H_

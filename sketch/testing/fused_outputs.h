// Groups that are computed tile by tile and give out more than their last
// result, for tests and benchmarks of fused schedules.
#ifndef TILEWRIGHT_SKETCH_TESTING_FUSED_OUTPUTS_H_
#define TILEWRIGHT_SKETCH_TESTING_FUSED_OUTPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sketch/testing/fused_workloads.h"

namespace tilewright::sketch {

// `fused` with the results of `stages` for outputs, too, as the plan lays them
// out; with zeros around them if `halo`.
FusedWorkload GiveOut(FusedWorkload fused, const std::vector<size_t>& stages,
                      bool halo = false);

// A drawn group, tile included, with some of its results given out. Not all can
// be: tasks may need overlapping parts of them. Same seed, same group.
FusedWorkload DrawGivingOut(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_FUSED_OUTPUTS_H_

// Which dimensions of a fused group's last output tasks may be cut along: each
// element of another output is computed by one task alone. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_FUSED_GIVEN_OUT_TILES_H_
#define TILEWRIGHT_SKETCH_FUSED_GIVEN_OUT_TILES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Per dimension of the last output: whether tiles of `blocks[dim]` elements
// along it, whole along all others, need parts of the other outputs that do not
// overlap. True of all if there are no other outputs.
absl::StatusOr<std::vector<bool>> MayCut(const Workload& workload,
                                         const StagePlan& plan,
                                         const std::vector<int64_t>& blocks);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_GIVEN_OUT_TILES_H_

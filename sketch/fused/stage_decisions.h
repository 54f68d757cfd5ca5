// The decisions of a fused group that are taken before any of its loops is
// written. STAGE is the name of a stage's result.
//
//   STAGE.reduce.step  steps of its reduction that are taken at a time, 0 for
//                      all; of contractions over what stages before it compute
//   tile.d0, ...       what is computed at a time along a dimension of the
//                      group's last output: elements, or blocks of its layout;
//                      one, of all of them, where the wishes take all and tasks
//                      that share them would compute another output twice
//   task.axis          the dimension along which a task takes several tiles,
//                      one after another, or "none"
//   task.steps         how many
//   STAGE.online       whether rows between two products are "whole", or
//                      "rolling": they follow the blocks of the second one
//   STAGE.scratch.order  how its result lies if it does not leave the group
//   STAGE.scratch.block  and is held at all: its dimensions, outermost first,
//                        and elements of d1 that lie innermost, in blocks
//
// No answer leaves fewer tasks than the wishes, or fewer than four a core,
// whichever is less. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_FUSED_STAGE_DECISIONS_H_
#define TILEWRIGHT_SKETCH_FUSED_STAGE_DECISIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"

namespace tilewright::sketch {

// The reduce axis of a stage that runs over a result of the group and whose
// steps can be taken in blocks; `part` is the stage as a workload of its own.
// InvalidArgument says why there is none.
absl::StatusOr<int> BlockedAxis(const Workload& group, const Workload& part);

// In `plan`, which holds what is preferred.
absl::Status DecideReduceSteps(const Workload& workload, StagePlan& plan,
                               Decider& decider);
// `wished`: tasks by the wishes alone.
absl::Status DecideTasks(const Workload& workload, const DeviceSpec& spec,
                         int64_t wished, StagePlan& plan, Decider& decider);
// Tasks of `plan`, with the steps that are preferred there.
int64_t TasksOf(const Workload& workload, const DeviceSpec& spec,
                const StagePlan& plan);
void DecideScratch(const Workload& workload, size_t stage, StagePlan& plan,
                   Decider& decider);

// Decides whether the rows of stage `rows` roll; `holds`: a schedule in which
// they do was found.
bool DecideRolling(const Workload& workload, const StagePlan& plan, size_t rows,
                   bool holds, Decider& decider);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_STAGE_DECISIONS_H_

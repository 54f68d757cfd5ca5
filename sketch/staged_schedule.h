// Groups that are computed tile by tile: a task computes a tile of the output,
// and before it, stage by stage, what that needs of the results of the stages
// before, which never leave the task's scratch (Welder, OSDI 2023). Inside a
// task every stage runs as its family's rules say for a group of that size.
#ifndef TILEWRIGHT_SKETCH_STAGED_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_STAGED_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/schedule.h"
#include "sketch/stage_plan.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// REQUIRES: the stages of `plan` partition the computes of `workload`, which
// has one output. InvalidArgument if a stage is of no family that can be one,
// or a tile of it cannot be cut out of its tensor.
absl::StatusOr<Schedule> StagedSchedule(const Workload& workload,
                                        const DeviceSpec& spec,
                                        const StagePlan& plan);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_STAGED_SCHEDULE_H_

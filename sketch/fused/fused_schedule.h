// Groups that are computed tile by tile: a task computes a tile of the output,
// and before it, stage by stage, what that needs of the results of the stages
// before (Welder, OSDI 2023). That never leaves the task's scratch, unless it
// is an output of the group itself: such tiles go to memory, where later stages
// read them while they are still in a cache. Inside a task every stage runs as
// its family's rules say for a group of that size.
//
// Which computes are a stage is part of the workload. All else is decided: of
// the group (stage_decisions.h), where stages stand and what they keep
// (stage_locations.h), and of each stage, by its family, within the name of its
// result; there too "stream" (annotations.h) of the last one.
#ifndef TILEWRIGHT_SKETCH_FUSED_FUSED_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_FUSED_FUSED_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/fused_wishes.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// "fused": the generator of workloads with stages; `wishes` are what it
// prefers. InvalidArgument if an output is no stage's result, a stage is of no
// family that can be one, a tile of it cannot be cut out of its tensor, or
// tasks would compute elements of an output twice, or not at all.
Generator FusedGenerator(FusedWishes wishes);

// The schedule of the preferred answers.
absl::StatusOr<Schedule> FusedSchedule(const Workload& workload,
                                       const DeviceSpec& spec,
                                       const FusedWishes& wishes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_FUSED_SCHEDULE_H_

// The schedule a group gets when nobody has tuned it: register tiles, tasks and
// packed constants by rule. Which family's rules a group falls under is decided
// here, by the shape of its expressions alone; each family is a file of its
// own.
//
//   row_schedule          reductions over the same rows, and maps
//   map_schedule          maps only
//   contraction_schedule  one reduction, maps before and behind it
#ifndef TILEWRIGHT_SKETCH_DEFAULT_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_DEFAULT_SCHEDULE_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/place.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// InvalidArgument if the group is of no family.
absl::StatusOr<Schedule> DefaultSchedule(const Workload& workload,
                                         const DeviceSpec& spec);

// Writes one stage of a group that is computed tile by tile; `workload` is the
// stage's (stage_workload.h). Where the place asks for blocks of steps, the
// loop over them, if there are several; InvalidArgument if the stage is of no
// family that can take them. REQUIRES: place.inside is set.
absl::StatusOr<std::optional<Handle>> WriteStage(const Workload& workload,
                                                 const DeviceSpec& spec,
                                                 const Place& place);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DEFAULT_SCHEDULE_H_

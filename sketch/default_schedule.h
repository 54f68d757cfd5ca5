// The schedule a group gets when nobody has tuned it: register tiles, tasks and
// packed constants by rule.
//
// A group is a chain: one compute, perhaps a reduction, and maps that read
// their predecessor element by element. The maps but the last are inlined; the
// reduction runs in registers inside the last one's tile loops. The vector axis
// is the one that is contiguous in the output; rows of the register tile come
// from the axes inside it (design: backends.md "CPU"; the tile is chosen by
// divisibility first, then by loads per multiply-add).
#ifndef TILEWRIGHT_SKETCH_DEFAULT_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_DEFAULT_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// InvalidArgument if the group is no such chain.
absl::StatusOr<Schedule> DefaultSchedule(const Workload& workload,
                                         const DeviceSpec& spec);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DEFAULT_SCHEDULE_H_

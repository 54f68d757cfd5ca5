// Schedules for groups of any family, for those that their family's rule cannot
// schedule: slower, and made of few primitives.
#ifndef TILEWRIGHT_SKETCH_RULES_PLAIN_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_PLAIN_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// A task computes a part of the output: every compute of the group stands in it
// in loops of its own, over what the part needs. Only a map that writes the
// output is vectorised. InvalidArgument if the group has several outputs or one
// without dimensions.
absl::StatusOr<Schedule> TasksSchedule(const Workload& workload,
                                       const DeviceSpec& spec);

// Every compute in loops of its own over all of it, in a single task: no
// instruction at all, so that nothing can be refused.
Schedule PlainSchedule();

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_PLAIN_SCHEDULE_H_

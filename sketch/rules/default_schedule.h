// The schedule a group gets when nobody has tuned it: register tiles, tasks and
// packed constants by rule. Its family (tilegraph/analysis/families.h) tells
// which rules; each family's are a file of their own.
//
//   row_schedule          reductions over the same rows, elementwise between
//   map_schedule          elementwise only
//   move_schedule         transposes and gathers, which read across memory
//   window_schedule       one reduction by a sliding window: pooling, depthwise
//   contraction_schedule  one other reduction, maps before and behind it
//   winograd_schedule     of these, convolutions that Winograd may compute: a
//                         generator of its own, which decides whether it does
//
// A rule may be refused: what it wrote cannot be replayed or lowered. Every
// group therefore has several generators, down to one that always holds.
#ifndef TILEWRIGHT_SKETCH_RULES_DEFAULT_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_DEFAULT_SCHEDULE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/analysis/families.h"

namespace tilewright::sketch {

// The generators of a group, the best first: the rule of its family, then those
// of plain_schedule.h. "no family" stands first for a group that is of none.
std::vector<Generator> Generators(const Workload& workload);

// The schedule that the first of them prefers; InvalidArgument if the group is
// of no family.
absl::StatusOr<Schedule> DefaultSchedule(const Workload& workload,
                                         const DeviceSpec& spec);

// The loops that were written for a stage.
struct WrittenStage {
  ComputeFamily family;
  // Where `location` asks for blocks of steps, the loop over them, if there are
  // several.
  std::optional<Handle> blocks = std::nullopt;
};
// Writes one stage of a group that is computed tile by tile; `workload` is the
// stage's (stage_workload.h). InvalidArgument if the stage is of no family that
// can take its steps in the blocks that `location` asks for. REQUIRES:
// location.inside is set.
absl::StatusOr<WrittenStage> WriteStage(const Workload& workload,
                                        const DeviceSpec& spec,
                                        const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_DEFAULT_SCHEDULE_H_

// Elementwise groups: every compute but the last is inlined; tasks and vector
// tiles cover the output. They decide
//
//   loops        "runs" pass through memory as it lies, "tiles" follow the
//   axes;
//                asked where both can be
//   of runs:
//   task.axis    the axis that tasks cut; they take one step of those around it
//   task.extent  elements of that axis in a task
//   vectors      that are unrolled together
//   of tiles, in kernels and in stages of fused groups:
//   tile         vectors and rows that are unrolled together
//   task.*       and order, as in tile_decisions.h
#ifndef TILEWRIGHT_SKETCH_RULES_MAP_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_MAP_SCHEDULE_H_

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// REQUIRES: `chain` is that of the workload's graph and has no reduction.
void WriteMap(const Workload& workload, const DeviceSpec& spec,
              const Chain& chain, const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_MAP_SCHEDULE_H_

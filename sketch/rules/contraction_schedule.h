// The default schedule of groups with one reduction: it runs in vector
// registers inside the tile loops of the group's last compute, which applies
// the maps behind it (the epilogue); maps before it are inlined into its loads.
// The vector axis is the one that is contiguous in the output; rows of the
// register tile come from the axes inside it. Constants become panels as wide
// as the tile (design: backends.md "CPU").
//
// It asks, in this order: contraction_decisions.h; in kernels of their own
// edges.h; packed_operands.h; annotations.h.
#ifndef TILEWRIGHT_SKETCH_RULES_CONTRACTION_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_CONTRACTION_SCHEDULE_H_

#include <optional>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Where the place asks for blocks of steps: the loop over them, if there are
// several. REQUIRES: `chain` is that of the workload's graph and has a
// reduction.
std::optional<Handle> WriteContraction(const Workload& workload,
                                       const DeviceSpec& spec,
                                       const Chain& chain,
                                       const ComputeLocation& location);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_CONTRACTION_SCHEDULE_H_

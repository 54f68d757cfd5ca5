// One stage of a group that is computed tile by tile, as a workload of its own.
#ifndef TILEWRIGHT_SKETCH_FUSED_STAGE_WORKLOAD_H_
#define TILEWRIGHT_SKETCH_FUSED_STAGE_WORKLOAD_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/trace/workload.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

// Its output is as large as `layout`, which says how it lies; its other
// computes as large as that needs. Tensors keep their names. What it reads is
// whole: results of other stages are placeholders, laid out as `plan` says.
// Zeros are known along the dimensions that are read alike wherever in the
// output the box lies.
absl::StatusOr<Workload> StageWorkload(const Workload& workload,
                                       const StagePlan& plan, size_t stage,
                                       const Layout& layout);

// Whether `id` is an output of the graph: written to memory as it is computed.
bool LeavesGroup(const TensorGraph& graph, TensorId id);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_STAGE_WORKLOAD_H_

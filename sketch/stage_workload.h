// One stage of a group that is computed tile by tile, as a workload of its own.
#ifndef TILEWRIGHT_SKETCH_STAGE_WORKLOAD_H_
#define TILEWRIGHT_SKETCH_STAGE_WORKLOAD_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "sketch/stage_plan.h"
#include "sketch/workload.h"
#include "tilegraph/layout.h"

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

// `whole`, the layout of a tensor, for a box of its elements: their order in
// memory is the same, without halo.
Layout LayoutOfBox(const Layout& whole, const std::vector<int64_t>& extents);

// The same in scratch: runs of elements begin at cache lines, and not at the
// same sets of a cache.
Layout LayoutInScratch(const Layout& whole, const std::vector<int64_t>& extents,
                       int64_t element_bytes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_STAGE_WORKLOAD_H_

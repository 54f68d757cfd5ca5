// Paddings between the stages of a group. A padding is written by the stage
// whose result it surrounds, with the values themselves: no copy, no guard
// where it is read.
#ifndef TILEWRIGHT_SKETCH_FUSED_STAGE_PADDINGS_H_
#define TILEWRIGHT_SKETCH_FUSED_STAGE_PADDINGS_H_

#include "sketch/trace/stage_plan.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// The same computes in stages of which none begins with the padding of another
// stage's result: it ends that stage if nothing else reads the result, else it
// is a stage of its own. REQUIRES: the stages partition the graph's computes.
StagePlan MovePaddings(const TensorGraph& graph, StagePlan plan);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_STAGE_PADDINGS_H_

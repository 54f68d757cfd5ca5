// Whether the reduction that ends a staged group may take its steps in blocks,
// the stages before it computing as much as a block needs (plan.h:
// Stage::reduce_step), and which reductions of theirs then follow the blocks,
// as those of softmax do (sketch/schedule.h, rolling_update).
#ifndef TILEWRIGHT_TILEGRAPH_TILING_REDUCE_BLOCKS_H_
#define TILEWRIGHT_TILEGRAPH_TILING_REDUCE_BLOCKS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright {

// By member: extents of its reduce axes in one block. Members that are not
// listed take theirs whole.
using ReduceSteps = std::map<TensorId, std::vector<int64_t>>;

// Of the last stage in blocks of `step`; empty if its reduction does not run
// over what stages before compute, or what a block needs a part of is written
// for others.
ReduceSteps ReduceStepsOf(const TensorGraph& graph, const Group& group,
                          int64_t step);

// Steps worth trying for the last stage, ascending: blocks about as long as
// each other, of multiples of `lanes`. Empty if there are none.
std::vector<int64_t> ReduceStepsWorthTrying(const TensorGraph& graph,
                                            const Group& group, int64_t lanes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_REDUCE_BLOCKS_H_

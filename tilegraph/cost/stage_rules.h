// The decisions about a group's stages (tile_plan.h) that the planner expects
// before a generator of schedules has made them: whether the reduction that
// ends the group may take its steps in blocks, the stages before it computing
// as much as a block needs, and which reductions of theirs then follow the
// blocks, as those of softmax do (sketch/trace/primitive.h, rolling_update).
#ifndef TILEWRIGHT_TILEGRAPH_COST_STAGE_RULES_H_
#define TILEWRIGHT_TILEGRAPH_COST_STAGE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// By stage, the last in blocks of `reduce_step` steps, 0: all; nothing rolls.
// It takes all if its reduction does not run over what stages before compute,
// or what a block needs a part of is written for others.
std::vector<StageDecision> ExpectedStages(const TensorGraph& graph,
                                          const Group& group,
                                          int64_t reduce_step);

// Whether the stage's result goes straight into the padding around it, which is
// the next stage: both are one nest of loops.
bool IsComputedWithNext(const TensorGraph& graph, const Group& group,
                        size_t stage);

// By member: extents of its reduce axes in one block. Members that are not
// listed take theirs whole.
using ReduceSteps = std::map<TensorId, std::vector<int64_t>>;

// As the group's tile plan has decided.
ReduceSteps ReduceStepsOf(const TensorGraph& graph, const Group& group);

// In how many blocks a task goes through the last stage's reduction.
int64_t ReduceBlocksOf(const TensorGraph& graph, const Group& group);

// Steps worth trying for the last stage, ascending: blocks about as long as
// each other, of multiples of `lanes`. Empty if there are none.
std::vector<int64_t> ReduceStepsWorthTrying(const TensorGraph& graph,
                                            const Group& group, int64_t lanes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_STAGE_RULES_H_

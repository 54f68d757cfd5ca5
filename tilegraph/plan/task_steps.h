// Whether tasks of a group that is computed tile by tile take several tiles in
// a row: neighbouring tiles need some of the same of its stages, which is
// computed once while a task goes on (sketch/trace/primitive.h, rolling).
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_TASK_STEPS_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_TASK_STEPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/plan/tile_plan.h"

namespace tilewright {

// Along the outermost axis, but for `vector_dim` and the columns of an image
// whose channels it is, along which neighbouring tiles of the last stage's
// output need the same of an earlier one: as many tiles as leave each of the
// cores some tasks. Nullopt: there is none such.
// REQUIRES: one extent of `tile` per dimension of the output.
absl::StatusOr<std::optional<TaskSteps>> ChooseTaskSteps(
    const TensorGraph& graph, const std::vector<Stage>& stages,
    std::vector<int64_t> tile, int vector_dim, int64_t cores);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_TASK_STEPS_H_

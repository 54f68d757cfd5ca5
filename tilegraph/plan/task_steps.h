// Whether tasks of a group that is computed tile by tile take several tiles in
// a row: neighbouring tiles need some of the same of its stages, which is
// computed once while a task goes on (sketch/trace/primitive.h, rolling).
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_TASK_STEPS_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_TASK_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tilegraph/plan/tile_plan.h"

namespace tilewright {

// Whether tiles (of those extents, none longer than the output) that are
// neighbours along an axis, of which there are so many, need the same of some
// stage (tilegraph/traffic/neighbour_tiles.h).
using TilesOverlap = std::function<bool(const std::vector<int64_t>& tile,
                                        size_t axis, int64_t tiles)>;

// Along the outermost axis, but for `vector_dim` and the columns of an image
// whose channels it is, along which neighbouring tiles of the last stage's
// output, of that shape, overlap: as many tiles as leave each of the cores some
// tasks. Nullopt: there is none such.
// REQUIRES: one extent of `tile` per dimension of the output.
std::optional<TaskSteps> ChooseTaskSteps(const std::vector<int64_t>& shape,
                                         std::vector<int64_t> tile,
                                         int vector_dim, int64_t cores,
                                         const TilesOverlap& overlap);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_TASK_STEPS_H_

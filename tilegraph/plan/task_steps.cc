#include "tilegraph/plan/task_steps.h"

#include <algorithm>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// Enough to keep cores busy to the end: what tasks share is computed twice.
constexpr int64_t kTasksPerCore = 2;

}  // namespace

std::optional<TaskSteps> ChooseTaskSteps(const std::vector<int64_t>& shape,
                                         std::vector<int64_t> tile,
                                         int vector_dim, int64_t cores,
                                         const TilesOverlap& overlap) {
  std::vector<int64_t> tiles;
  int64_t tasks = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    tile[i] = std::min(shape[i], tile[i]);
    tiles.push_back(CeilDiv(shape[i], tile[i]));
    tasks *= tiles[i];
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (tiles[i] == 1 || static_cast<int>(i) == vector_dim) continue;
    // Beside vectors of another dimension, the innermost one lies in registers:
    // where parts of it are kept, every register has a place of its own in the
    // ring, and to find that costs more than to compute them twice.
    if (i + 1 == shape.size() && vector_dim >= 0 && i > 1) break;
    if (!overlap(tile, i, tiles[i])) continue;
    const int64_t wanted = kTasksPerCore * std::max<int64_t>(1, cores);
    const int64_t most = std::clamp<int64_t>(tasks / wanted, 1, tiles[i]);
    // As many tasks as that needs, all of one size.
    const int64_t steps = CeilDiv(tiles[i], CeilDiv(tiles[i], most));
    if (steps == 1) return std::nullopt;
    return TaskSteps{static_cast<int>(i), steps};
  }
  return std::nullopt;
}

}  // namespace tilewright

#include "tilegraph/plan/task_steps.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/region/region.h"

namespace tilewright {
namespace {

// Enough to keep cores busy to the end: what tasks share is computed twice.
constexpr int64_t kTasksPerCore = 2;

// Whether tiles that are neighbours along `axis` need the same of some stage.
absl::StatusOr<bool> Share(const TensorGraph& graph,
                           const std::vector<Stage>& stages,
                           const std::vector<int64_t>& tile, size_t axis,
                           int64_t tiles) {
  constexpr int kStep = 0;
  const TensorId output = stages.back().members.back();
  Region region;
  for (size_t i = 0; i < tile.size(); ++i) {
    region.emplace_back();
    region[i].base = i == axis ? Expr::Var(kStep, "step") * Expr::Int(tile[i])
                               : Expr::Int(0);
    region[i].extent = tile[i];
  }
  std::vector<TensorId> members;
  for (const Stage& stage : stages)
    members.insert(members.end(), stage.members.begin(), stage.members.end());
  std::sort(members.begin(), members.end());
  const RangeOf ranges = [&](int var) -> std::optional<Range> {
    if (var != kStep) return std::nullopt;
    return Range{0, tiles - 1};
  };
  TW_ASSIGN_OR_RETURN(const auto needed, Propagate(graph, {{output, region}},
                                                   members, {}, ranges));
  for (const Stage& stage : stages) {
    const auto of = needed.find(stage.members.back());
    if (of == needed.end() || of->first == output) continue;
    int moving = 0;
    bool overlap = false;
    for (const RegionDim& dim : of->second) {
      const int64_t slope = ToLinear(dim.base, ranges).CoefficientOf(kStep);
      if (slope == 0) continue;
      ++moving;
      overlap |= slope > 0 && slope < (dim.extent - 1) * dim.step + 1;
    }
    if (moving == 1 && overlap) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::optional<TaskSteps>> ChooseTaskSteps(
    const TensorGraph& graph, const std::vector<Stage>& stages,
    std::vector<int64_t> tile, int vector_dim, int64_t cores) {
  const std::vector<int64_t> shape =
      graph.tensor(stages.back().members.back()).static_shape();
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
    TW_ASSIGN_OR_RETURN(const bool share,
                        Share(graph, stages, tile, i, tiles[i]));
    if (!share) continue;
    const int64_t wanted = kTasksPerCore * std::max<int64_t>(1, cores);
    const int64_t most = std::clamp<int64_t>(tasks / wanted, 1, tiles[i]);
    // As many tasks as that needs, all of one size.
    const int64_t steps = CeilDiv(tiles[i], CeilDiv(tiles[i], most));
    if (steps == 1) return std::optional<TaskSteps>();
    return std::optional<TaskSteps>({static_cast<int>(i), steps});
  }
  return std::optional<TaskSteps>();
}

}  // namespace tilewright

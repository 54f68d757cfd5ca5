#include "sketch/fused/given_out_tiles.h"

#include <cstddef>
#include <map>
#include <optional>

#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/region/region.h"

namespace tilewright::sketch {
namespace {

constexpr int kTile = 0;  // the variable that counts tiles

// Whether tiles need parts of it that lie side by side along one dimension.
bool LieSideBySide(const Region& part, const RangeOf& ranges) {
  int moving = 0;
  for (const RegionDim& dim : part) {
    if (!Mentions(dim.base, kTile)) continue;
    const int64_t step = ToLinear(dim.base, ranges).CoefficientOf(kTile);
    if (dim.step != 1 || step != dim.extent) return false;
    ++moving;
  }
  return moving == 1;
}

}  // namespace

absl::StatusOr<std::vector<bool>> MayCut(const Workload& workload,
                                         const StagePlan& plan,
                                         const std::vector<int64_t>& blocks) {
  const TensorGraph& graph = workload.graph;
  const TensorId output = plan.stages.back().members.back();
  const std::vector<int64_t> shape = graph.tensor(output).static_shape();
  std::vector<bool> may(shape.size(), true);
  if (graph.outputs().size() == 1) return may;
  std::vector<TensorId> members;
  for (const StagePlan::Stage& stage : plan.stages)
    members.insert(members.end(), stage.members.begin(), stage.members.end());
  for (size_t cut = 0; cut < shape.size(); ++cut) {
    const int64_t tiles = CeilDiv(shape[cut], blocks[cut]);
    if (tiles == 1) continue;
    const RangeOf ranges = [tiles](int var) -> std::optional<Range> {
      return var == kTile ? std::optional<Range>({0, tiles - 1}) : std::nullopt;
    };
    Region tile(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
      tile[i].base = i == cut ? Expr::Var(kTile, "tile") * Expr::Int(blocks[i])
                              : Expr::Int(0);
      tile[i].extent = i == cut ? blocks[i] : shape[i];
    }
    TW_ASSIGN_OR_RETURN(const auto parts, Propagate(graph, {{output, tile}},
                                                    members, {}, ranges));
    for (const TensorId other : graph.outputs()) {
      const auto part = parts.find(other);
      if (other == output || part == parts.end()) continue;
      may[cut] = may[cut] && LieSideBySide(part->second, ranges);
    }
  }
  return may;
}

}  // namespace tilewright::sketch

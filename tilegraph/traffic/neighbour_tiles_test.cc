// The oracle is Propagate, over expressions.
#include "tilegraph/traffic/neighbour_tiles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/ceil_div.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/region/region.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// A part of a graph in stages, each of one member or several.
std::vector<std::vector<TensorId>> RandomStages(const TensorGraph& graph,
                                                Random& random) {
  std::vector<std::vector<TensorId>> stages(1);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    if (!stages.back().empty() && random.UniformInt(0, 1) == 0)
      stages.emplace_back();
    stages.back().push_back(tensor.id);
  }
  return stages;
}

bool OverlapByPropagate(const TensorGraph& graph,
                        const std::vector<std::vector<TensorId>>& stages,
                        const std::vector<int64_t>& tile, size_t axis,
                        int64_t tiles) {
  constexpr int kStep = 0;
  Region region;
  for (size_t d = 0; d < tile.size(); ++d) {
    region.emplace_back();
    region[d].base = d == axis ? Expr::Var(kStep, "step") * Expr::Int(tile[d])
                               : Expr::Int(0);
    region[d].extent = tile[d];
  }
  std::vector<TensorId> members;
  for (const std::vector<TensorId>& stage : stages)
    members.insert(members.end(), stage.begin(), stage.end());
  const RangeOf ranges = [&](int var) -> std::optional<Range> {
    if (var != kStep) return std::nullopt;
    return Range{0, tiles - 1};
  };
  const auto needed =
      Propagate(graph, {{stages.back().back(), region}}, members, {}, ranges);
  EXPECT_TRUE(needed.ok()) << needed.status();
  for (size_t s = 0; s + 1 < stages.size(); ++s) {
    const auto of = needed->find(stages[s].back());
    if (of == needed->end()) continue;
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

TEST(NeighbourTilesTest, OverlapAsPropagateSays) {
  int overlapping = 0, apart = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const TensorGraph graph = RandomGraph(seed, {});
    Random random(seed);
    const std::vector<std::vector<TensorId>> stages =
        RandomStages(graph, random);
    if (stages.back().empty()) continue;
    const std::vector<int64_t> shape =
        graph.tensor(stages.back().back()).static_shape();
    NeighbourTiles neighbours(graph, stages);
    for (int repeat = 0; repeat < 4; ++repeat) {
      std::vector<int64_t> tile;
      for (const int64_t extent : shape)
        tile.push_back(random.UniformInt(1, extent));
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t tiles = CeilDiv(shape[axis], tile[axis]);
        if (tiles == 1) continue;
        const bool overlap = neighbours.Overlap(tile, axis, tiles);
        EXPECT_EQ(overlap, OverlapByPropagate(graph, stages, tile, axis, tiles))
            << "seed " << seed << ", axis " << axis << "\n"
            << PrintText(graph);
        ++(overlap ? overlapping : apart);
      }
    }
  }
  EXPECT_GT(overlapping, 100);
  EXPECT_GT(apart, 1000);
}

}  // namespace
}  // namespace tilewright

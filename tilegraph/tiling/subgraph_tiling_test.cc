#include "tilegraph/tiling/subgraph_tiling.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/tiling/subtiles.h"
#include "tilegraph/tiling/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TEST(SubtilesTest, SizesAreSmallOnesDivisorsPowersOfTwoAndEvenCuts) {
  EXPECT_THAT(TileSizes(1), ElementsAre(1));
  EXPECT_THAT(TileSizes(7), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(TileSizes(33),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 32, 33));
}

// The least bytes across the outermost level, over all tiles and orders.
double LeastBytes(const TileGraph& graph, const Subgraph& part,
                  const MemoryLevel& outer, const MemoryLevel& inner) {
  const std::vector<int64_t> whole =
      graph.graph().tensor(part.outputs[0]).static_shape();
  MemTraffic traffic(graph, part, outer, inner, {});
  double least = std::numeric_limits<double>::infinity();
  std::vector<int64_t> tile(whole.size(), 1);
  for (;;) {
    std::vector<int> order(whole.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
    do {
      const auto cost = traffic.Cost({{tile, {}}, order}, whole);
      EXPECT_TRUE(cost.ok()) << cost.status();
      if (cost.ok() && cost->fits) least = std::min(least, cost->bytes());
    } while (std::next_permutation(order.begin(), order.end()));
    size_t d = 0;
    while (d < whole.size() && ++tile[d] > whole[d]) tile[d++] = 1;
    if (d == whole.size()) return least;
  }
}

TEST(SubgraphTilingTest, TheBestPlanIsCloseToTheOptimumOfTheModel) {
  DeviceSpec spec = *LoadSpec("unit");
  spec.mutable_levels(1)->set_capacity_bytes(1000);
  const std::vector<TensorGraph> graphs = {Matmul(16, 8, 24), Matmul(13, 8, 30),
                                           MatmulSoftmax(24, 8, 6),
                                           ConvReluPool(2, 4, 14)};
  for (const TensorGraph& graph : graphs) {
    std::vector<TensorId> members;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
    }
    TileGraph tiles(graph, members);
    for (const auto& [edge, level] : std::map<TileEdge, int>(tiles.edges()))
      tiles.SetConnect(edge, 1);
    for (const auto kind : {MemoryLevel::CACHE, MemoryLevel::SCRATCHPAD}) {
      spec.mutable_levels(1)->set_kind(kind);
      const Subgraph all = tiles.SubgraphOf(members);
      TilingOptions options;
      options.levels = 1;
      options.by_traffic = true;
      TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                              TileSubgraph(tiles, all, spec, options));
      const double least =
          LeastBytes(tiles, all, spec.levels(0), spec.levels(1));
      EXPECT_TRUE(plans[0].cost.fits);
      EXPECT_LE(plans[0].cost.bytes(), 1.05 * least)
          << members.size() << " computes, kind " << kind;
    }
  }
}

TEST(SubgraphTilingTest, InnerLevelsAreTiledWithinOuterTiles) {
  const DeviceSpec spec = *LoadSpec("unit");
  const TensorGraph graph = ConvReluPool(16, 32, 66);
  TileGraph tiles(graph, {2, 3, 4});
  tiles.SetConnect({2, 3}, 2);
  tiles.SetConnect({3, 4}, 1);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Subgraph> parts, tiles.Parts(0));
  TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                          TileSubgraph(tiles, parts[0], spec, {}));
  const TilePlan& best = plans[0];
  EXPECT_TRUE(best.cost.fits);
  ASSERT_EQ(best.inner.size(), 2);
  EXPECT_THAT(best.inner[0].part.members, ElementsAre(2, 3));
  EXPECT_THAT(best.inner[1].part.members, ElementsAre(4));
  for (const TilePlan& inner : best.inner) {
    EXPECT_EQ(inner.level, 1);
    EXPECT_TRUE(inner.cost.fits);
  }
  // The pooled tile needs twice its rows and columns of the ReLU.
  for (int d : {1, 2})
    EXPECT_LE(best.inner[0].tiles.tile.spatial[d],
              2 * best.tiles.tile.spatial[d]);
  const PlanCost cost = CostOf(best, spec);
  EXPECT_EQ(cost.bytes_by_level.size(), 2);
  EXPECT_GE(cost.flops, 64.0 * 64 * 32 * 2 * 16 * 9);
  // Apart, the results of the convolution go through memory and back.
  tiles.SetConnect({3, 4}, 0);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Subgraph> apart, tiles.Parts(0));
  ASSERT_EQ(apart.size(), 2);
  double bytes = 0;
  for (const Subgraph& part : apart) {
    TW_ASSERT_OK_AND_ASSIGN(const auto alone,
                            TileSubgraph(tiles, part, spec, {}));
    bytes += alone[0].cost.bytes();
  }
  EXPECT_GE(bytes, cost.bytes_by_level[0] + 2 * 4.0 * 32 * 64 * 64);
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/traffic/tile_work.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/region/region.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TileWorkTest, PoolingNeedsTwiceTheRowsOfReluAndAHaloOfTheImage) {
  const TensorGraph graph = ConvReluPool(3, 8, 34);
  const TileGraph tiles(graph, {2, 3, 4});
  const Subgraph all = tiles.SubgraphOf({2, 3, 4});
  TW_ASSERT_OK_AND_ASSIGN(const TileWork work,
                          WorkOfTiles(tiles, all, {{8, 1, 1}, {}}, {}));
  EXPECT_EQ(work.tiles, 16 * 16);
  EXPECT_THAT(work.inside[1].extents, ElementsAre(8, 2, 2));  // R
  EXPECT_THAT(work.inside[0].extents, ElementsAre(8, 2, 2));  // C
  EXPECT_THAT(work.inputs[0].extents, ElementsAre(3, 4, 4));  // X
  EXPECT_EQ(work.inputs[0].total_bytes, 256 * 3 * 16 * 4);
  EXPECT_THAT(work.inputs[0].varies, ElementsAre(false, true, true));
  EXPECT_THAT(work.inputs[1].varies, ElementsAre(false, false, false));
  // Two operations for every product of the convolution, one for the ReLU and
  // one for every element pooled.
  EXPECT_EQ(work.flops, 32 * 32 * 8 * (2 * 27 + 1 + 1));
}

TEST(TileWorkTest, PartialTilesAndStepsCountWhatIsThere) {
  const TensorGraph graph = Matmul(10, 7, 9);
  const TileGraph tiles(graph, {2});
  const Subgraph all = tiles.SubgraphOf({2});
  TW_ASSERT_OK_AND_ASSIGN(const TileWork work,
                          WorkOfTiles(tiles, all, {{4, 9}, {{2, {3}}}}, {}));
  EXPECT_THAT(work.trips, ElementsAre(3, 1));
  EXPECT_EQ(work.inputs[0].step_bytes, 4 * 3 * 4);
  EXPECT_EQ(work.inputs[0].total_bytes, 10 * 7 * 4);
  EXPECT_EQ(work.inputs[1].total_bytes, 3 * 7 * 9 * 4);
  EXPECT_EQ(work.outputs[0].total_bytes, 10 * 9 * 4);
  EXPECT_EQ(work.flops, 2 * 10 * 7 * 9);
}

TEST(TileWorkTest, ShortRunsMoveWholeTransactions) {
  const TensorGraph graph = Matmul(64, 64, 64);
  const TileGraph tiles(graph, {2});
  const Subgraph all = tiles.SubgraphOf({2});
  TileWorkOptions options;
  options.read_transaction_bytes = 64;
  options.write_transaction_bytes = 32;
  TW_ASSERT_OK_AND_ASSIGN(const TileWork work,
                          WorkOfTiles(tiles, all, {{8, 4}, {}}, options));
  EXPECT_EQ(work.inputs[0].total_moved_bytes, 16 * 64 * 64 * 4);  // whole rows
  EXPECT_EQ(work.inputs[1].total_moved_bytes, 8 * 64 * 64 * 4 * 4);  // 16 of 64
  EXPECT_EQ(work.outputs[0].total_moved_bytes, 64 * 64 * 4 * 2);     // 16 of 32
}

TEST(TileWorkTest, OutputsOfDifferentShapesHaveNoCommonTiling) {
  const TensorGraph graph = MatmulSoftmax(8, 4, 6);
  const TileGraph tiles(graph, {2, 3, 4, 5, 6});
  EXPECT_THAT(WorkOfTiles(tiles, tiles.SubgraphOf({2, 3}), {{1, 1}, {}}, {})
                  .status()
                  .message(),
              HasSubstr("no common tiling"));
}

// Clipped elements of every tile for itself, tile by tile; what a member has no
// element of needs nothing.
std::map<TensorId, double> TileByTile(const TensorGraph& graph,
                                      const Subgraph& part,
                                      const std::vector<int64_t>& tile) {
  const std::vector<int64_t> shape =
      graph.tensor(part.outputs[0]).static_shape();
  const RangeOf none = [](int) { return std::nullopt; };
  // The part of a region of constant base that exists, without gaps.
  const auto clipped = [](const Region& region,
                          const std::vector<int64_t>& extents) {
    Region result;
    for (size_t d = 0; d < region.size(); ++d) {
      int64_t first = region[d].base.int_value(), count = region[d].extent;
      const int64_t step = region[d].step;
      while (count > 0 && first < 0) first += step, --count;
      while (count > 0 && first + (count - 1) * step >= extents[d]) --count;
      result.push_back({Expr::Int(first), count, step, true, ""});
    }
    return result;
  };
  std::map<TensorId, double> elements;
  std::vector<int64_t> at(shape.size(), 0);
  for (;;) {
    Region region;
    for (size_t d = 0; d < shape.size(); ++d)
      region.push_back({Expr::Int(at[d]), tile[d], 1, true, ""});
    std::map<TensorId, Region> regions = {{part.outputs[0], region}};
    std::map<TensorId, double> loads;  // no more elements are needed
    for (auto id = part.members.rbegin(); id != part.members.rend(); ++id) {
      if (!regions.count(*id)) continue;
      const Tensor& tensor = graph.tensor(*id);
      Region axes = clipped(regions.at(*id), tensor.static_shape());
      bool any = true;
      for (RegionDim& axis : axes) {
        any &= axis.extent > 0;
        axis.extent = (axis.extent - 1) * axis.step + 1;
        axis.step = 1;
      }
      if (!any) continue;
      for (const Axis& axis : tensor.compute.reduce_axes)
        axes.push_back({Expr::Int(0), axis.extent.value(), 1, true, ""});
      double points = 1;
      for (const RegionDim& axis : axes)
        points *= static_cast<double>(axis.extent);
      for (const Expr& body : tensor.compute.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() == Op::kLoad) loads[e.source()] += points;
        });
      }
      const auto needed = PropagateOne(graph, *id, axes, none);
      EXPECT_TRUE(needed.ok()) << needed.status();
      for (const auto& [source, own] : *needed) {
        const auto [known, inserted] = regions.emplace(source, own);
        if (!inserted) known->second = Join(known->second, own, none);
      }
    }
    for (const TensorId input : part.inputs) {
      if (!regions.count(input)) continue;
      double product = 1;
      for (const RegionDim& dim :
           clipped(regions.at(input), graph.tensor(input).static_shape()))
        product *= static_cast<double>(dim.extent);
      elements[input] += std::min(product, loads[input]);
    }
    size_t d = 0;
    while (d < shape.size() && (at[d] += tile[d]) >= shape[d]) at[d++] = 0;
    if (d == shape.size()) return elements;
  }
}

TEST(TileWorkTest, RandomGraphsAreSummedAsTileByTile) {
  int equal = 0, more = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const TensorGraph graph = RandomGraph(seed, {});
    std::vector<TensorId> members;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
    }
    const TileGraph tiles(graph, members);
    const Subgraph part = tiles.SubgraphOf(members);
    if (part.outputs.size() != 1) continue;
    // Partial tiles may be taken for whole ones behind an inner tensor.
    const bool divides = seed % 2 == 0;
    Random random(seed);
    std::vector<int64_t> tile;
    for (const int64_t extent : graph.tensor(part.outputs[0]).static_shape()) {
      int64_t size = random.UniformInt(1, extent);
      while (divides && extent % size != 0) --size;
      tile.push_back(size);
    }
    const auto work = WorkOfTiles(tiles, part, {tile, {}}, {});
    TW_ASSERT_OK(work);
    for (const auto& [input, expected] : TileByTile(graph, part, tile)) {
      for (const TileOperand& operand : work->inputs) {
        if (operand.tensor != input) continue;
        const double elements =
            operand.total_bytes / SizeBytes(graph.tensor(input).dtype);
        EXPECT_GE(elements, expected * (1 - 1e-9))
            << seed << " " << graph.tensor(input).name << "\n"
            << PrintText(graph);
        if (divides) ++(elements <= expected * (1 + 1e-9) ? equal : more);
      }
    }
  }
  EXPECT_GT(equal, 10 * more) << more;
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/tiling/tile_graph.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text_form.h"
#include "tilegraph/tiling/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(TileGraphTest, LevelsOfEdgesSayWhatStaysTogether) {
  // X, W are 0 and 1; C, R, P are 2, 3, 4.
  const TensorGraph graph = ConvReluPool(3, 8, 10);
  TileGraph tiles(graph, {2, 3, 4});
  EXPECT_THAT(tiles.edges(), SizeIs(2));
  EXPECT_THAT(*tiles.Parts(0), SizeIs(3));

  // Conv and ReLU in registers (level 3), ReLU and pooling in a cache (2).
  tiles.SetConnect({2, 3}, 3);
  tiles.SetConnect({3, 4}, 2);
  TW_ASSERT_OK_AND_ASSIGN(const auto kernels, tiles.Parts(0));
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_THAT(kernels[0].members, ElementsAre(2, 3, 4));
  EXPECT_THAT(kernels[0].inputs, ElementsAre(0, 1));
  EXPECT_THAT(kernels[0].outputs, ElementsAre(4));
  TW_ASSERT_OK_AND_ASSIGN(const auto in_cache, tiles.Parts(2));
  ASSERT_THAT(in_cache, SizeIs(2));
  EXPECT_THAT(in_cache[0].members, ElementsAre(2, 3));
  EXPECT_THAT(in_cache[0].outputs, ElementsAre(3));
  EXPECT_THAT(in_cache[1].inputs, ElementsAre(3));
}

TEST(TileGraphTest, PartsThatWaitForEachOtherAreRefused) {
  const TensorGraph graph = *ParseText(R"(
    X: f32[4] = placeholder
    A: f32[4] = compute (i: 4) { X[i] + 1.0 }
    B: f32[4] = compute (i: 4) { X[i] + 2.0 }
    C: f32[4] = compute (i: 4) { A[i] + B[i] }
    D: f32[4] = compute (i: 4) { A[i] * B[i] }
    return C, D
  )");
  TileGraph tiles(graph, {1, 2, 3, 4});
  tiles.SetConnect({1, 3}, 1);  // A with C, which reads B
  TW_EXPECT_OK(tiles.Parts(0));
  tiles.SetConnect({2, 4}, 1);  // B with D, which reads A
  EXPECT_EQ(tiles.Parts(0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(tiles.SubgraphOf({1, 3}).outputs, ElementsAre(1, 3));
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/traffic/tile_graph.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TEST(TileGraphTest, PartsReadAndWriteWhatOthersHold) {
  const TensorGraph graph = *ParseText(R"(
    X: f32[4] = placeholder
    A: f32[4] = compute (i: 4) { X[i] + 1.0 }
    B: f32[4] = compute (i: 4) { X[i] + 2.0 }
    C: f32[4] = compute (i: 4) { A[i] + B[i] }
    D: f32[4] = compute (i: 4) { A[i] * B[i] }
    return C, D
  )");
  const TileGraph tiles(graph, {1, 2, 3, 4});
  const Subgraph some = tiles.SubgraphOf({1, 3});
  EXPECT_THAT(some.inputs, ElementsAre(0, 2));
  EXPECT_THAT(some.outputs, ElementsAre(1, 3));  // D reads A
  const Subgraph all = tiles.SubgraphOf({1, 2, 3, 4});
  EXPECT_THAT(all.inputs, ElementsAre(0));
  EXPECT_THAT(all.outputs, ElementsAre(3, 4));
}

}  // namespace
}  // namespace tilewright

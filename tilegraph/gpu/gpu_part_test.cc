#include "tilegraph/gpu/gpu_part.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/shared_rows.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TEST(GpuPartTest, SoftmaxBehindAProduct) {
  // A, B are 0 and 1; C product, M maxima, E exponentials, S sums, Y.
  const TensorGraph graph = MatmulSoftmax(32, 64, 48);
  const Subgraph part =
      TileGraph(graph, {2, 3, 4, 5, 6}).SubgraphOf({2, 3, 4, 5, 6});
  const GpuPart gpu = AsGpuPart(graph, part);
  ASSERT_EQ(gpu.clusters.size(), 3);
  EXPECT_THAT(gpu.clusters[0].members, ElementsAre(0, 2, 4));  // C, E, Y
  EXPECT_EQ(gpu.clusters[0].root, 0);
  EXPECT_THAT(gpu.clusters[1].members, ElementsAre(1));  // M
  EXPECT_THAT(gpu.clusters[2].members, ElementsAre(3));  // S
  // Sums read C and E row by row, E and Y what is of their row.
  for (const int m : {0, 1, 2, 3}) EXPECT_TRUE(gpu.members[m].shared) << m;
  EXPECT_FALSE(gpu.members[4].shared);
  EXPECT_TRUE(gpu.members[4].output);
  EXPECT_EQ(gpu.members[0].stepped_axis, 0);
  EXPECT_EQ(gpu.members[1].stepped_axis, -1);  // over what C made
  EXPECT_TRUE(gpu.inputs[0].staged);
  EXPECT_EQ(gpu.inputs[0].stepped_by, 0);
}

TEST(GpuPartTest, MapsReadTheirOperandsThemselves) {
  const TensorGraph graph = *ParseText(R"(
    X: f32[8, 16] = placeholder
    B: f32[16] = placeholder
    T: f32[16, 8] = placeholder
    A: f32[8, 16] = compute (m: 8, n: 16) { X[m, n] + B[n] }
    Y: f32[8, 16] = compute (m: 8, n: 16) { A[m, n] * T[n, m] }
    return Y)");
  const Subgraph part = TileGraph(graph, {3, 4}).SubgraphOf({3, 4});
  const GpuPart gpu = AsGpuPart(graph, part);
  EXPECT_EQ(gpu.clusters.size(), 1);
  EXPECT_FALSE(gpu.members[0].shared);
  EXPECT_FALSE(gpu.inputs[0].staged);
  EXPECT_FALSE(gpu.inputs[1].staged);
  EXPECT_TRUE(gpu.inputs[2].staged);  // transposed
}

TEST(GpuPartTest, BoxesOfLoads) {
  const TensorGraph graph = ConvReluPool(16, 32, 34);
  const GpuPart gpu =
      AsGpuPart(graph, TileGraph(graph, {2, 3, 4}).SubgraphOf({2, 3, 4}));
  EXPECT_EQ(gpu.members[0].stepped_axis, 0);  // 16 channels
  // A tile [8, 4, 6] of the convolution, 8 channels at a time, needs windows
  // of [8, 6, 8] and 8 filters of [8, 3, 3].
  const std::vector<int64_t> axes = {8, 4, 6, 8, 3, 3};
  const auto& loads = gpu.members[0].loads;
  EXPECT_THAT(ExtentsOf(loads[0], axes), ElementsAre(8, 6, 8));
  EXPECT_THAT(ExtentsOf(loads[1], axes), ElementsAre(8, 8, 3, 3));
  for (const int d : {0, 1, 2})
    EXPECT_EQ(loads[0].index[d].moves[1], d == 1 ? 1 : 0);
  // A weight's channels and window are one row, of which units take terms.
  EXPECT_EQ(RowDims(graph, gpu, loads[1].tensor), 3);
  EXPECT_EQ(RowDims(graph, gpu, loads[0].tensor), 1);
  // Windows with stride 2 behind it.
  EXPECT_THAT(ExtentsOf(gpu.members[2].loads[0], {8, 4, 4, 2, 2}),
              ElementsAre(8, 8, 8));
}

}  // namespace
}  // namespace tilewright

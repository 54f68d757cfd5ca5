#include "tilegraph/rewrite/pixel_sums.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/rewrite/rewrite_testing.h"

namespace tilewright {
namespace {

// 12 channels to CHANNELS, windows of SIZE rows, every STEPth column.
TensorGraph Convolution(const std::string& channels, const std::string& size,
                        const std::string& step) {
  return Parsed(absl::StrReplaceAll(
      R"(
      X: f32[2, 12, 6, 8] = placeholder
      W: f32[CHANNELS, 12, SIZE, 1] = placeholder
      Y: f32[2, CHANNELS, 4, 4] = compute (n: 2, o: CHANNELS, h: 4, w: 4) reduce (c: 12, i: SIZE, j: 1) sum:f32 { X[n, c, h + i, w * STEP + j] * W[o, c, i, j] } hint conv
      return Y
    )",
      {{"CHANNELS", channels}, {"SIZE", size}, {"STEP", step}}));
}

TEST(PixelSumsTest, AScoreOfEveryPixelIsASumOfItsChannels) {
  const TensorGraph graph = Convolution("1", "1", "1");
  EXPECT_FALSE(IsRowReduction(graph, graph.outputs()[0]));
  const RewrittenGraph summed = SumChannelsOfPixels(graph);
  ExpectSameResults(graph, summed);
  const TensorId sum = summed.graph.outputs()[0];
  EXPECT_TRUE(IsRowReduction(summed.graph, sum));
  EXPECT_EQ(summed.graph.tensor(sum).hint.role(), ComputeRole::kNone);
}

TEST(PixelSumsTest, OtherConvolutionsStay) {
  for (const TensorGraph& graph :
       {Convolution("2", "1", "1"), Convolution("1", "3", "1"),
        Convolution("1", "1", "2")}) {
    const RewrittenGraph same = SumChannelsOfPixels(graph);
    EXPECT_EQ(same.graph.tensor(same.graph.outputs()[0]).hint.role(),
              ComputeRole::kConvolution);
  }
}

}  // namespace
}  // namespace tilewright

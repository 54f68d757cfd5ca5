#include "tilegraph/rewrite/channel_sums.h"

#include <string>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The squares of 2 groups of 3 channels around their means.
TensorGraph Squares(const std::string& scale = "M[n, g, 0, 0, 0]") {
  return Parsed(
      "X: f32[2, 6, 5, 4] = placeholder\n"
      "M: f32[2, 2, 1, 1, 1] = placeholder\n"
      "V: f32[2, 2, 3, 5, 4] = compute (n: 2, g: 2, c: 3, h: 5, w: 4) "
      "{ X[n, g * 3 + c, h, w] } hint reshape\n"
      "S: f32[2, 2, 1, 1, 1] = compute (n: 2, g: 2, c: 1, h: 1, w: 1) "
      "reduce (r: 3, y: 5, x: 4) sum:f32 { (V[n, g, r, y, x] - " +
      scale + ") * (V[n, g, r, y, x] - " + scale +
      ") } hint reduce\n"
      "return S\n");
}

TEST(ChannelSumsTest, PixelsAreSummedBeforeChannels) {
  const RewrittenGraph sums = SumChannelsFirst(Squares());
  ASSERT_THAT(VerifyGraph(sums.graph), IsOk());
  const std::string text = PrintText(sums.graph);
  EXPECT_THAT(text, HasSubstr("S.channels: f32[2, 6, 1, 1] = compute (n: 2, g: "
                              "6, h: 1, w: 1) reduce (y: 5, x: 4) sum:f32 { "
                              "(X[n, g, y, x] - M[n, g floordiv 3, 0, 0, 0])"))
      << text;
  EXPECT_THAT(text, HasSubstr("S: f32[2, 2, 1, 1, 1] = compute (n: 2, g: 2, c: "
                              "1, h: 1, w: 1) reduce (r: 3) sum:f32 { "
                              "S.channels[n, g * 3 + r, 0, 0] }"))
      << text;
  EXPECT_THAT(text, Not(HasSubstr("V: "))) << text;
}

TEST(ChannelSumsTest, ResultsStayTheSame) {
  const TensorGraph graph = Squares();
  ExpectSameResults(graph, SumChannelsFirst(graph));
}

// Weights of single channels would need them in groups, too.
TEST(ChannelSumsTest, OtherReadsByChannelStayAsTheyAre) {
  const TensorGraph graph = Squares("V[n, g, 0, y, x]");
  EXPECT_EQ(PrintText(SumChannelsFirst(graph).graph), PrintText(graph));
}

// Rows of a matrix in groups are no image.
TEST(ChannelSumsTest, OnePixelStaysAsItIs) {
  const TensorGraph graph = Parsed(
      "X: f32[2, 6, 1] = placeholder\n"
      "V: f32[2, 2, 3, 1] = compute (n: 2, g: 2, c: 3, w: 1) "
      "{ X[n, g * 3 + c, 0] } hint reshape\n"
      "S: f32[2, 2, 1, 1] = compute (n: 2, g: 2, c: 1, w: 1) "
      "reduce (r: 3, x: 1) sum:f32 { V[n, g, r, x] }\n"
      "return S\n");
  EXPECT_EQ(PrintText(SumChannelsFirst(graph).graph), PrintText(graph));
}

// Every pixel of 6 channels less the mean of its group of 3, which is computed.
TEST(ChannelSumsTest, ValuesOfGroupsAreSpreadOnce) {
  const TensorGraph graph = Parsed(
      "X: f32[2, 6, 5, 4] = placeholder\n"
      "P: f32[2, 2, 1, 1] = placeholder\n"
      "M: f32[2, 2, 1, 1] = compute (n: 2, g: 2, h: 1, w: 1) "
      "{ P[n, g, h, w] + 1.0 }\n"
      "Y: f32[2, 6, 5, 4] = compute (n: 2, c: 6, h: 5, w: 4) "
      "{ X[n, c, h, w] - M[n, c floordiv 3, 0, 0] }\n"
      "Z: f32[2, 6, 5, 4] = compute (n: 2, c: 6, h: 5, w: 4) "
      "{ Y[n, c, h, w] * M[n, c floordiv 3, 0, 0] }\n"
      "return Z\n");
  const RewrittenGraph spread = SpreadOverChannels(graph);
  const std::string text = PrintText(spread.graph);
  EXPECT_THAT(text, HasSubstr("M.channels: f32[2, 6, 1, 1] = compute (d0: 2, "
                              "d1: 6, d2: 1, d3: 1) { M[d0, d1 floordiv 3, 0, "
                              "0] } hint spread"))
      << text;
  EXPECT_THAT(text, HasSubstr("{ X[n, c, h, w] - M.channels[n, c, 0, 0] }"))
      << text;
  EXPECT_THAT(text, HasSubstr("{ Y[n, c, h, w] * M.channels[n, c, 0, 0] }"))
      << text;
  ExpectSameResults(graph, spread);
}

// One value for each channel is read once; there is nothing to spread it for.
TEST(ChannelSumsTest, NothingIsSpreadForOnePixel) {
  const TensorGraph graph = Parsed(
      "P: f32[2, 2, 1] = placeholder\n"
      "M: f32[2, 2, 1] = compute (n: 2, g: 2, w: 1) { P[n, g, w] + 1.0 }\n"
      "Y: f32[2, 6, 1] = compute (n: 2, c: 6, w: 1) { M[n, c floordiv 3, 0] }\n"
      "return Y\n");
  EXPECT_EQ(PrintText(SpreadOverChannels(graph).graph), PrintText(graph));
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/rewrite/window_rows.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBlock = 16;
constexpr char kImage[] = "X: f32[2, 3, 6, 8] = placeholder\n";

// A pool P, of windows of 3 x 4, of what `load` reads.
TensorGraph Pool(const std::string& before, const std::string& load) {
  return Parsed(
      absl::StrCat(before,
                   "P: f32[2, 3, 2, 2] = compute (n: 2, c: 3, oh: 2, ow: 2) "
                   "reduce (kh: 3, kw: 4) sum:f32 { ",
                   load, " }\nreturn P\n"));
}

TEST(WindowRowsTest, DisjointWindowsAreRows) {
  const TensorGraph graph = Pool(kImage, "X[n, c, oh * 3 + kh, ow * 4 + kw]");
  const RewrittenGraph split = SplitIntoWindows(graph, kBlock);
  const std::string text = PrintText(split.graph);
  EXPECT_THAT(text, HasSubstr("P.windows[n, c, oh, kh, ow, kw]")) << text;
  EXPECT_TRUE(IsRowReduction(split.graph, *split.graph.Find("P"))) << text;
  ExpectSameResults(graph, split);
}

TEST(WindowRowsTest, SoAreThoseOfAllChannelsOfASignal) {
  const TensorGraph graph = Parsed(
      "X: f32[2, 4, 12] = placeholder\n"
      "P: f32[2, 3] = compute (n: 2, o: 3) reduce (c: 4, k: 4) max:f32 "
      "{ X[n, c, o * 4 + k] }\nreturn P\n");
  const RewrittenGraph split = SplitIntoWindows(graph, kBlock);
  EXPECT_TRUE(IsRowReduction(split.graph, *split.graph.Find("P")));
  ExpectSameResults(graph, split);
}

TEST(WindowRowsTest, SoAreThoseOfNarrowElements) {
  const TensorGraph graph = Pool("X: f16[2, 3, 6, 8] = placeholder\n",
                                 "cast:f32(X[n, c, oh * 3 + kh, ow * 4 + kw])");
  const RewrittenGraph split = SplitIntoWindows(graph, kBlock);
  EXPECT_THAT(PrintText(split.graph),
              HasSubstr("cast:f32(P.windows[n, c, oh, kh, ow, kw])"));
  ExpectSameResults(graph, split);
}

TEST(WindowRowsTest, OthersStayAsTheyAre) {
  const std::string larger = "X: f32[2, 3, 7, 9] = placeholder\n";
  for (const TensorGraph& graph :
       {Pool(larger, "X[n, c, oh * 4 + kh, ow * 4 + kw]"),  // rows left out
        Pool(larger, "X[n, c, oh * 2 + kh, ow * 4 + kw]"),  // they overlap
        Pool(larger, "X[n, c, oh * 3 + kh, ow * 4 + kw + 1]"),
        Pool(kImage, "X[n, c, 5 - oh * 3 - kh, ow * 4 + kw]"),
        Pool(kImage, "select(kw < 3, X[n, c, oh * 3 + kh, ow * 4 + kw], 0.0)"),
        Pool(kImage, "X[n, c, oh * 3 + kh, oh * 4 + kw]"),
        // Groups of channels.
        Parsed("X: f32[2, 6, 5] = placeholder\n"
               "P: f32[2, 3, 5] = compute (n: 2, g: 3, i: 5) reduce (c: 2) "
               "sum:f32 { X[n, g * 2 + c, i] }\nreturn P\n"),
        // Rows that are not windows.
        Parsed("X: f32[2, 3, 8] = placeholder\n"
               "P: f32[2, 2, 4] = compute (n: 2, h: 2, w: 4) reduce (c: 3) "
               "sum:f32 { X[n, c, h * 4 + w] }\nreturn P\n"),
        // Of all there is.
        Parsed("X: f32[2, 8] = placeholder\n"
               "P: f32[2] = compute (n: 2) reduce (k: 8) sum:f32 "
               "{ X[n, k] }\nreturn P\n")}) {
    const std::string text = PrintText(graph);
    EXPECT_EQ(PrintText(SplitIntoWindows(graph, kBlock).graph), text);
  }
}

// Vectors of channels go through windows of any kind.
TEST(WindowRowsTest, PoolsBehindConvolutionsStayToo) {
  const TensorGraph graph = Parsed(
      "X: f32[1, 8, 6, 8] = placeholder\n"
      "W: f32[16, 8, 1, 1] = placeholder\n"
      "C: f32[1, 16, 6, 8] = compute (n: 1, o: 16, h: 6, w: 8) "
      "reduce (i: 8) sum:f32 { X[n, i, h, w] * W[o, i, 0, 0] }\n"
      "P: f32[1, 16, 2, 2] = compute (n: 1, c: 16, oh: 2, ow: 2) "
      "reduce (kh: 3, kw: 4) sum:f32 { C[n, c, oh * 3 + kh, ow * 4 + kw] }\n"
      "return P\n");
  EXPECT_EQ(PrintText(SplitIntoWindows(graph, kBlock).graph), PrintText(graph));
}

}  // namespace
}  // namespace tilewright

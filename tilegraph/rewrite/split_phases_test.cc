#include "tilegraph/rewrite/split_phases.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// As an importer writes it: `extent` outputs in a row, of which output o sees
// `taps` inputs from (o + shift) floordiv stride on.
TensorGraph Transposed(int extent, int stride, int shift, int taps) {
  const int inputs = (extent - 1 + shift) / stride + taps;
  const std::string at = shift == 0 ? "o" : absl::StrCat("(o + ", shift, ")");
  return Parsed(absl::StrCat(
      "X: f32[3, ", inputs, "] = placeholder\n", "W: f32[", stride, ", ", taps,
      ", 3, 4] = placeholder\n", "T: f32[4, ", extent,
      "] = compute (c: 4, o: ", extent, ") reduce (i: 3, k: ", taps,
      ") sum:f32 { X[i, ", at, " floordiv ", stride, " + k] * W[", at,
      " floormod ", stride, ", k, i, c] }\n", "return T\n"));
}

TEST(SplitPhasesTest, RestsAreAxesOfTheirOwn) {
  const RewrittenGraph split = SplitPhases(Transposed(8, 2, 0, 1));
  const std::string text = PrintText(split.graph);
  EXPECT_THAT(text, HasSubstr("T.phases: f32[2, 4, 4] = compute (o_rest: 2, c: "
                              "4, o: 4) reduce (i: 3, k: 1)"))
      << text;
  EXPECT_THAT(text, HasSubstr("{ T.phases[o floormod 2, c, o floordiv 2] }"))
      << text;
}

TEST(SplitPhasesTest, ResultsStayTheSame) {
  for (const int stride : {2, 3}) {
    for (int shift = 0; shift < 5; ++shift) {
      for (const int extent : {1, 2, 7, 12}) {
        for (const int taps : {1, 2}) {
          const TensorGraph graph = Transposed(extent, stride, shift, taps);
          const RewrittenGraph split = SplitPhases(graph);
          const std::string text = PrintText(split.graph);
          SCOPED_TRACE(text);
          ASSERT_THAT(VerifyGraph(split.graph), IsOk());
          // Fewer outputs do not have all rests: others might read outside.
          if (extent >= stride) {
            EXPECT_THAT(text, HasSubstr("T.phases"));
          } else {
            EXPECT_EQ(text, PrintText(graph));
          }
          ExpectSameResults(graph, split);
        }
      }
    }
  }
}

// A view of rows in another shape reads quotient and rest in one load.
TEST(SplitPhasesTest, OtherShapesAreNoPhases) {
  const TensorGraph graph = Parsed(
      "X: f32[4, 2, 5] = placeholder\n"
      "T: f32[8] = compute (o: 8) reduce (k: 5) sum:f32 "
      "{ X[o floordiv 2, o floormod 2, k] }\nreturn T\n");
  EXPECT_EQ(PrintText(SplitPhases(graph).graph), PrintText(graph));
  const TensorGraph masked = Parsed(
      "X: f32[4, 5] = placeholder\n"
      "T: f32[8] = compute (o: 8) reduce (k: 5) sum:f32 "
      "{ select(o floormod 2 == 0, X[o floordiv 2, k], 0.0) }\nreturn T\n");
  EXPECT_EQ(PrintText(SplitPhases(masked).graph), PrintText(masked));
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/rewrite/split_phases.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

TensorGraph Parsed(const std::string& text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_THAT(graph, IsOk()) << text;
  return *std::move(graph);
}

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

void ExpectTheSame(const TensorGraph& graph, const RewrittenGraph& split) {
  const auto inputs = RandomInputs(graph, /*seed=*/1, /*exact_integers=*/true);
  std::map<TensorId, HostTensor> renamed;
  for (const auto& [id, value] : inputs) renamed.emplace(split.ids[id], value);
  auto before = Interpreter::Create(graph, inputs, {});
  auto after = Interpreter::Create(split.graph, renamed, {});
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  const auto want = (*before)->Evaluate(graph.outputs()[0]);
  const auto got = (*after)->Evaluate(split.graph.outputs()[0]);
  ASSERT_THAT(want, IsOk());
  ASSERT_THAT(got, IsOk());
  for (int64_t e = 0; e < want->num_elements(); ++e)
    ASSERT_EQ(got->Get(e).f, want->Get(e).f);
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
          ExpectTheSame(graph, split);
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

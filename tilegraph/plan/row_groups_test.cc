#include <optional>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/plan/plan_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

using Names = std::vector<std::string>;

std::vector<Names> GroupsOf(const char* text) {
  const TensorGraph graph = Parsed(text);
  return GroupNames(graph, MakePlan(graph, {}));
}

TEST(RowGroupsTest, SoftmaxTakesWhatScalesItAndWhatFollows) {
  EXPECT_THAT(GroupsOf(R"(
      X: f32[4, 8, 16] = placeholder
      B: f32[4, 1, 16] = placeholder
      Z: f32[4, 8, 16] = compute (b: 4, r: 8, k: 16) { X[b, r, k] * 0.125 }
      W: f32[4, 8, 16] = compute (b: 4, r: 8, k: 16) { Z[b, r, k] + B[b, 0, k] }
      M: f32[4, 8, 1] = compute (b: 4, r: 8, o: 1) reduce (k: 16) max:f32 { W[b, r, k] }
      E: f32[4, 8, 16] = compute (b: 4, r: 8, k: 16) { exp(W[b, r, k] - M[b, r, 0]) }
      S: f32[4, 8, 1] = compute (b: 4, r: 8, o: 1) reduce (k: 16) sum:f32 { E[b, r, k] }
      Y: f32[4, 8, 16] = compute (b: 4, r: 8, k: 16) { E[b, r, k] / S[b, r, 0] }
      V: f32[4, 8, 16] = compute (b: 4, r: 8, k: 16) { Y[b, r, k] * 2.0 }
      T: f32[4, 16, 8] = compute (b: 4, k: 16, r: 8) { V[b, r, k] }
      return T)"),
              ElementsAre(ElementsAre("Z", "W", "M", "E", "S", "Y", "V"),
                          ElementsAre("T")));
}

// The sum belongs to the product, as if nothing normalised it.
TEST(RowGroupsTest, AProductKeepsItsEpilogue) {
  EXPECT_THAT(GroupsOf(R"(
      A: f32[8, 4] = placeholder
      B: f32[4, 16] = placeholder
      R: f32[8, 16] = placeholder
      P: f32[8, 16] = compute (m: 8, n: 16) reduce (k: 4) sum:f32 { A[m, k] * B[k, n] }
      X: f32[8, 16] = compute (m: 8, n: 16) { P[m, n] + R[m, n] }
      S: f32[8] = compute (m: 8) reduce (n: 16) sum:f32 { X[m, n] }
      Q: f32[8] = compute (m: 8) reduce (n: 16) sum:f32 { (X[m, n] - S[m]) * X[m, n] }
      Y: f32[8, 16] = compute (m: 8, n: 16) { X[m, n] * Q[m] }
      return Y)"),
              ElementsAre(ElementsAre("P", "X"), ElementsAre("S", "Q", "Y")));
}

TEST(RowGroupsTest, ReductionsOfOneRowMeet) {
  EXPECT_THAT(GroupsOf(R"(
      A: f32[8, 8] = placeholder
      S: f32[8] = compute (m: 8) reduce (k: 8) sum:f32 { A[m, k] }
      T: f32[8] = compute (m: 8) reduce (k: 8) max:f32 { A[m, k] }
      U: f32[8] = compute (m: 8) { exp(T[m]) }
      Q: f32[8] = compute (m: 8) { S[m] + U[m] }
      return Q)"),
              ElementsAre(ElementsAre("S", "T", "U", "Q")));
}

TEST(RowGroupsTest, OtherRowsAreOtherGroups) {
  // The second reduction is over the rows of the first.
  EXPECT_THAT(GroupsOf(R"(
      X: f32[8, 16] = placeholder
      S: f32[8] = compute (m: 8) reduce (n: 16) sum:f32 { X[m, n] }
      Y: f32[8, 16] = compute (m: 8, n: 16) { X[m, n] * S[m] }
      T: f32[16] = compute (n: 16) reduce (m: 8) sum:f32 { Y[m, n] }
      return T)"),
              ElementsAre(ElementsAre("S", "Y"), ElementsAre("T")));
  // One of the statistics is wanted outside: what follows it stays apart.
  EXPECT_THAT(GroupsOf(R"(
      X: f32[8, 16] = placeholder
      S: f32[8] = compute (m: 8) reduce (n: 16) sum:f32 { X[m, n] }
      A: f32[8] = compute (m: 8) { S[m] / 16.0 }
      Y: f32[8, 16] = compute (m: 8, n: 16) { X[m, n] - A[m] }
      return A, Y)"),
              ElementsAre(ElementsAre("S", "A"), ElementsAre("Y")));
}

TEST(RowSpaceTest, TellsRowsFromProductsAndWindows) {
  const absl::StatusOr<TensorGraph> graph = ParseText(R"(
      X: f32[2, 8, 16] = placeholder
      B: f32[16, 5] = placeholder
      w: f32[16] = placeholder
      S: f32[2, 8] = compute (a: 2, m: 8) reduce (n: 16) sum:f32 { X[a, m, n] * w[n] }
      C: f32[2, 16] = compute (a: 2, n: 16) reduce (m: 8) sum:f32 { X[a, m, n] }
      P: f32[2, 8, 5] = compute (a: 2, m: 8, p: 5) reduce (n: 16) sum:f32 { X[a, m, n] * B[n, p] }
      W: f32[2, 8, 15] = compute (a: 2, m: 8, n: 15) reduce (k: 2) max:f32 { X[a, m, n + k] }
      return S, C, P, W)");
  TW_ASSERT_OK(graph.status());
  const auto is_row = [&](const char* name) {
    return IsRowReduction(*graph, *graph->Find(name));
  };
  EXPECT_TRUE(is_row("S"));
  EXPECT_TRUE(is_row("C"));
  EXPECT_FALSE(is_row("P"));
  EXPECT_FALSE(is_row("W"));
  EXPECT_FALSE(is_row("X"));
  const std::optional<RowSpace> rows =
      FindRows(*graph, std::vector<TensorId>{*graph->Find("C")});
  ASSERT_TRUE(rows.has_value());
  EXPECT_THAT(rows->extents, ElementsAre(2, 16));
  EXPECT_THAT(rows->axes.at(*graph->Find("C")), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tilewright

#include "measure/inputs/input_sets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/inputs/adversarial_selections.h"
#include "measure/inputs/values_inside_clips.h"
#include "measure/testing/test_kernels.h"
#include "tilegraph/analysis/exact_integers.h"
#include "tilegraph/reference/reference.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::measure {
namespace {

TensorGraph Graph(const char* text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_THAT(graph.status(), IsOk());
  return *std::move(graph);
}

TEST(InputSetsTest, RingOperationsAreExactAndFunctionsAreNot) {
  for (const NamedWorkload& one : TestWorkloads())
    EXPECT_EQ(IsExactOnIntegers(one.workload.graph), one.exact) << one.name;
  EXPECT_FALSE(
      IsExactOnIntegers(Graph("x: f32[4] = placeholder\ny: f32[4] = compute "
                              "(i: 4) { x[i] * 0.5 }\nreturn y\n")));
  EXPECT_TRUE(
      IsExactOnIntegers(Graph("x: f32[4] = placeholder\ny: f32[4] = compute "
                              "(i: 4) { min(max(x[i], 0), 6) }\nreturn y\n")));
}

TEST(InputSetsTest, ExactSetsAreSmallIntegersOfEveryDtype) {
  const TensorGraph graph = TestWorkload("gemm").graph;
  Random random(1);
  for (const auto& [id, values] : DrawExactSet(graph, 5, random)) {
    bool any = false;
    for (const float v : values.as<float>()) {
      ASSERT_EQ(v, std::nearbyint(v));
      ASSERT_LE(std::fabs(v), 5);
      any = any || v != 0;
    }
    EXPECT_TRUE(any);
  }
}

TEST(InputSetsTest, RealSumsComeOutAtUnitSize) {
  const TensorGraph graph = Graph(
      "A: f32[64, 1000] = placeholder\nB: f32[1000, 64] = placeholder\n"
      "C: f32[64, 64] = compute (m: 64, n: 64) reduce (k: 1000) sum:f32 { A[m, "
      "k] * B[k, n] }\nreturn C\n");
  Random random(1);
  TW_ASSERT_OK_AND_ASSIGN(
      const ReferenceResult result,
      EvaluateReference(graph, DrawRealSet(graph, random), {}));
  double squares = 0;
  const ReferenceTensor& c = result.outputs.begin()->second;
  for (const double v : c.value) squares += v * v;
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(c.value.size())), 1, 0.1);
}

TEST(InputSetsTest, DomainsAreRespected) {
  const TensorGraph graph = Graph(
      "x: f32[100] = placeholder\nz: f32[100] = placeholder\nw: f32[100] = "
      "placeholder\n"
      "y: f32[100] = compute (i: 100) { log(x[i]) + sqrt(z[i]) / w[i] "
      "}\nreturn y\n");
  Random random(1);
  TW_ASSERT_OK_AND_ASSIGN(
      const ReferenceResult result,
      EvaluateReference(graph, DrawRealSet(graph, random), {}));
  const ReferenceTensor& y = result.outputs.begin()->second;
  for (size_t k = 0; k < y.value.size(); ++k) {
    ASSERT_TRUE(std::isfinite(y.value[k]));
    ASSERT_LT(y.bound[k], 1e-5);
  }
}

TEST(InputSetsTest, IndicesAreValidAndTurnsHoldTheirExtremes) {
  const TensorGraph graph = TestWorkload("gather").graph;
  const TensorId indices = *graph.Find("I");
  Random random(1);
  InputSet set = DrawRealSet(graph, random);
  for (const int64_t index : set.at(indices).as<int64_t>()) {
    EXPECT_GE(index, 0);
    EXPECT_LT(index, 11);
  }
  ASSERT_EQ(NumTurns(graph), 2);
  PlaceSelections(graph, 0, 4, random, set);
  for (const int64_t index : set.at(indices).as<int64_t>())
    EXPECT_EQ(index, 10);
  PlaceSelections(graph, 1, 4, random, set);
  for (const int64_t index : set.at(indices).as<int64_t>()) EXPECT_EQ(index, 0);
}

TEST(InputSetsTest, IntegerConstantsKeepTheirValuesAndFloatsAreDrawn) {
  const TensorGraph graph = Graph(
      "k: i64[2] = constant { 3, 1 }\nf: f32[2] = constant { 9, 9 }\nx: f32[5] "
      "= placeholder\n"
      "y: f32[2] = compute (i: 2) { x[max(min(k[i], 4), 0)] * f[i] }\nreturn "
      "y\n");
  Random random(1);
  const InputSet set = DrawRealSet(graph, random);
  EXPECT_EQ(set.at(*graph.Find("k")).as<int64_t>()[0], 3);
  EXPECT_NE(set.at(*graph.Find("f")).as<float>()[0], 9);
}

// The share of values at an end of 0..6 in a chain of clipped products.
double ClippedShare(const TensorGraph& graph, const InputSet& inputs) {
  const auto result = EvaluateReference(graph, inputs, {});
  EXPECT_THAT(result.status(), IsOk());
  int64_t clipped = 0, all = 0;
  for (const auto& [id, output] : result->outputs) {
    for (const double value : output.value) {
      clipped += value <= 0 || value >= 6;
      ++all;
    }
  }
  return static_cast<double>(clipped) / static_cast<double>(all);
}

TEST(ValuesInsideClipsTest, NearlyNothingIsClippedHoweverOften) {
  const TensorGraph graph = Graph(R"(
      X: f32[40, 16] = placeholder
      A: f32[16, 100] = placeholder
      a: f32[100] = placeholder
      B: f32[100, 30] = placeholder
      C: f32[30, 20] = placeholder
      S: f32[40, 100] = compute (m: 40, n: 100) reduce (k: 16) sum:f32 { X[m, k] * A[k, n] }
      T: f32[40, 100] = compute (m: 40, n: 100) { min(max(S[m, n] + a[n], 0.0), 6.0) }
      U: f32[40, 30] = compute (m: 40, n: 30) reduce (k: 100) sum:f32 { T[m, k] * B[k, n] }
      V: f32[40, 30] = compute (m: 40, n: 30) { max(min(U[m, n], 6.0), 0.0) }
      W: f32[40, 20] = compute (m: 40, n: 20) reduce (k: 30) sum:f32 { V[m, k] * C[k, n] }
      Y: f32[40, 20] = compute (m: 40, n: 20) { min(max(2.0 * W[m, n] + 3.0, 0.0), 6.0) }
      return T, V, Y
  )");
  Random random(3);
  EXPECT_GT(ClippedShare(graph, DrawRealSet(graph, random)), 0.25);
  EXPECT_LT(ClippedShare(graph,
                         DrawRealSet(graph, random, SpreadsInsideClips(graph))),
            0.01);
}

// The sum is near the middle of 0..6 also where its data come from a padding.
TEST(ValuesInsideClipsTest, PaddingsDoNotHideWhatDataAreDrawnAs) {
  const TensorGraph graph = Graph(R"(
      X: f32[40, 14] = placeholder
      A: f32[16, 50] = placeholder
      P: f32[40, 16] = compute (m: 40, k: 16) { select(k >= 1 && k < 15, X[m, k - 1], 0.0) }
      S: f32[40, 50] = compute (m: 40, n: 50) reduce (k: 16) sum:f32 { P[m, k] * A[k, n] }
      Y: f32[40, 50] = compute (m: 40, n: 50) { min(max(S[m, n], 0.0), 6.0) }
      return Y
  )");
  Random random(3);
  TW_ASSERT_OK_AND_ASSIGN(
      const ReferenceResult result,
      EvaluateReference(
          graph, DrawRealSet(graph, random, SpreadsInsideClips(graph)), {}));
  const std::vector<double>& values = result.outputs.begin()->second.value;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(values.size());
  EXPECT_NEAR(mean, 3 * 14 / 16.0, 0.5);
}

// Over the turns, every step of the selection is where some output's winner
// stands, for every output.
TEST(AdversarialSelectionsTest, EveryStepWinsForEveryOutput) {
  const TensorGraph graph = TestWorkload("argmax").graph;
  std::vector<std::vector<bool>> won(9, std::vector<bool>(33, false));
  for (int turn = 0; turn < NumTurns(graph); ++turn) {
    Random random(turn);
    InputSet set = DrawExactSet(graph, 8, random);
    PlaceSelections(graph, turn, 17, random, set);
    TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                            EvaluateReference(graph, set, {}));
    for (int row = 0; row < 9; ++row)
      won[row][result.outputs.begin()->second.integer[row]] = true;
  }
  for (int row = 0; row < 9; ++row) {
    for (int step = 0; step < 33; ++step)
      EXPECT_TRUE(won[row][step]) << "row " << row << ", step " << step;
  }
}

// The winner of a softmax overflows alone, and most of the others do not vanish
// beside it.
TEST(AdversarialSelectionsTest, OthersOfASoftmaxAreNotZero) {
  const TensorGraph graph = TestWorkload("softmax").graph;
  Random random(1);
  InputSet set = DrawRealSet(graph, random);
  PlaceSelections(graph, 0, kOverflowMargin, random, set);
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, set, {}));
  int rows = 0;
  const std::vector<double>& values = result.outputs.begin()->second.value;
  for (int row = 0; row < 5; ++row) {
    const double least = *std::min_element(values.begin() + 31 * row,
                                           values.begin() + 31 * (row + 1));
    rows += least > 0x1p-149 && least < 0x1p-127;
  }
  EXPECT_GE(rows, 2);
}

TEST(AdversarialSelectionsTest, GraphsThatPickNothingNeedNoTurns) {
  EXPECT_EQ(NumTurns(TestWorkload("gemm").graph), 0);
  EXPECT_EQ(NumTurns(TestWorkload("maxpool").graph), 9 + 2);
}

// A variance is none the worse for inputs of both signs, a logarithm is.
TEST(DrawRealSetTest, OnlyWhatMayBeNegativeIsDrawnPositive) {
  const auto smallest = [](const std::string& body) {
    const absl::StatusOr<TensorGraph> graph = ParseText(absl::StrCat(
        "X: f32[9, 24] = placeholder\n"
        "S: f32[9] = compute (r: 9) reduce (k: 24) sum:f32 { ",
        body, "(X[r, k]) * ", body,
        "(X[r, k]) }\n"
        "Y: f32[9, 24] = compute (r: 9, c: 24) { X[r, c] / sqrt(S[r] + "
        "0.00001) }\nreturn Y\n"));
    EXPECT_THAT(graph.status(), IsOk());
    Random random(1);
    const InputSet set = DrawRealSet(*graph, random);
    const auto values = set.begin()->second.as<float>();
    return *std::min_element(values.begin(), values.end());
  };
  EXPECT_LT(smallest("abs"), 0);
  EXPECT_GE(smallest("log"), 0.5);
}

// The epsilon is one of 64 parts of the variance, also where a product is
// normalized: one of its factors is small then.
TEST(DrawRealSetTest, VariancesAreNotFarAboveWhatIsAddedToThem) {
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph, ParseText(R"(
X: f32[9, 20] = placeholder
R: f32[9, 240] = placeholder
W: f32[20, 240] = placeholder
P: f32[9, 240] = compute (r: 9, c: 240) reduce (k: 20) sum:f32 { X[r, k] * W[k, c] }
A: f32[9, 240] = compute (r: 9, c: 240) { P[r, c] + R[r, c] }
V: f32[9] = compute (r: 9) reduce (k: 240) sum:f32 { A[r, k] * A[r, k] }
Y: f32[9, 240] = compute (r: 9, c: 240) { A[r, c] / sqrt(V[r] / 240.0 + 0.00001) }
return V, Y
)"));
  Random random(1);
  TW_ASSERT_OK_AND_ASSIGN(
      const ReferenceResult result,
      EvaluateReference(graph, DrawRealSet(graph, random), {}));
  for (const double sum : result.outputs.at(*graph.Find("V")).value) {
    EXPECT_GT(sum / 240, 32 * 0.00001);
    EXPECT_LT(sum / 240, 256 * 0.00001);
  }
}

// As an exporter writes attention: words of a table, and a mask of integers,
// through two tensors.
TEST(IntegerRangesTest, OfIndicesAndMasksNotOfOtherIntegers) {
  const TensorGraph graph = Graph(R"(
    words: i64[5] = placeholder
    mask: i64[5] = placeholder
    counts: i64[5] = placeholder
    scores: f32[5] = placeholder
    table: f32[300] = placeholder
    word: f32[5] = compute (i: 5) { table[words[i]] }
    ones: f32[5] = compute (i: 5) { cast:f32(mask[i]) }
    off: f32[5] = compute (i: 5) { (1.0 - ones[i]) * -3.4e38 }
    Y: f32[5] = compute (i: 5) { word[i] + scores[i] + off[i] + cast:f32(counts[i]) }
    return Y
)");
  const auto ranges = IntegerRanges(graph);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges.at(*graph.Find("words")).least, 0);
  EXPECT_EQ(ranges.at(*graph.Find("words")).most, 299);
  EXPECT_EQ(ranges.at(*graph.Find("mask")).least, 0);
  EXPECT_EQ(ranges.at(*graph.Find("mask")).most, 1);
}

TEST(DrawRealSetTest, MasksAreZeroOrOne) {
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph, ParseText(R"(
M: i64[40] = placeholder
X: f32[40] = placeholder
F: f32[40] = compute (i: 40) { 1.0 - cast:f32(M[i]) }
Y: f32[40] = compute (i: 40) { X[i] + F[i] * -3.4028235e+38 }
return Y
)"));
  Random random(1);
  const InputSet set = DrawRealSet(graph, random);
  const auto values = set.begin()->second.as<int64_t>();
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1);
}

}  // namespace
}  // namespace tilewright::measure

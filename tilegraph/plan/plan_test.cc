#include "tilegraph/plan/plan.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/plan/plan_testing.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

constexpr char kMlp[] = R"(
    A: f32[64, 32] = placeholder
    B: f32[32, 48] = placeholder
    b: f32[48] = placeholder
    T: f32[64, 48] = compute (m: 64, n: 48) reduce (k: 32) sum:f32 { A[m, k] * B[k, n] }
    U: f32[64, 48] = compute (m: 64, n: 48) { T[m, n] + b[n] }
    Y: f32[64, 48] = compute (m: 64, n: 48) { max(U[m, n], 0) }
    return Y
)";

TEST(PlanTest, ElementwiseConsumersJoinTheirProducer) {
  const TensorGraph graph = Parsed(kMlp);
  EXPECT_THAT(GroupNames(graph, MakePlan(graph, {})),
              ElementsAre(ElementsAre("T", "U", "Y")));
}

TEST(PlanTest, WithoutConnectionsEveryComputeIsAlone) {
  const TensorGraph graph = Parsed(kMlp);
  PlanOptions options;
  options.connect = PlanOptions::Connect::kNone;
  EXPECT_THAT(
      GroupNames(graph, MakePlan(graph, options)),
      ElementsAre(ElementsAre("T"), ElementsAre("U"), ElementsAre("Y")));
}

// x · sigmoid(x) and the like: what follows a result in two ways that meet
// is fused as a whole again.
TEST(PlanTest, ConsumersThatMeetAgainJoinTogether) {
  const TensorGraph graph = Parsed(R"(
      A: f32[8, 8] = placeholder
      S: f32[8] = compute (m: 8) reduce (k: 8) sum:f32 { A[m, k] }
      P: f32[8] = compute (m: 8) { exp(S[m]) }
      Q: f32[8] = compute (m: 8) { S[m] + 1.0 }
      R: f32[8] = compute (m: 8) { Q[m] * Q[m] }
      T: f32[8] = compute (m: 8) { P[m] / R[m] }
      U: f32[8] = compute (m: 8) { T[m] * 2.0 }
      return U
  )");
  EXPECT_THAT(GroupNames(graph, MakePlan(graph, {})),
              ElementsAre(ElementsAre("S", "P", "Q", "R", "T", "U")));
}

TEST(PlanTest, AResultEndsItsGroupWhereAConsumerCannotJoin) {
  // The second consumer of S, and the reason given.
  const std::pair<const char*, const char*> cases[] = {
      {"Q: f32[8] = compute (m: 8) { S[7 - m] + P[m] }\nreturn Q\n",
       "a consumer reads other elements than its own"},
      {"Q: f32[1] = compute (m: 1) reduce (k: 8) sum:f32 { S[k] + P[k] }\n"
       "return Q\n",
       "a consumer reduces"},
      {"Q: f32[8] = compute (m: 8) { S[m] + P[m] }\nreturn P, Q\n",
       "a consumer is an output of the model"},
      {"Q: f32[2, 4] = compute (m: 2, n: 4) { S[m * 4 + n] }\n"
       "R: f32[2, 4] = compute (m: 2, n: 4) { Q[m, n] + P[m * 4 + n] }\n"
       "return R\n",
       "a consumer is a view of it"},
  };
  for (const auto& [text, why] : cases) {
    const TensorGraph graph = Parsed(absl::StrCat(
        "A: f32[8, 8] = placeholder\n"
        "S: f32[8] = compute (m: 8) reduce (k: 8) sum:f32 { A[m, k] }\n"
        "P: f32[8] = compute (m: 8) { exp(S[m]) }\n",
        text));
    const Plan plan = MakePlan(graph, {});
    EXPECT_THAT(GroupNames(graph, plan)[0], ElementsAre("S")) << text;
    EXPECT_THAT(plan.groups[0].why, ElementsAre(why));
  }
}

// Two branches meet in an addition: it is fused with one of them, and that one
// runs last.
TEST(PlanTest, AGroupRunsAfterEverythingItsEpilogueReads) {
  const TensorGraph graph = Parsed(R"(
      A: f32[8, 8] = placeholder
      B: f32[8, 8] = placeholder
      S: f32[8, 8] = compute (m: 8, n: 8) reduce (k: 8) sum:f32 { A[m, k] * B[k, n] }
      T: f32[8, 8] = compute (m: 8, n: 8) reduce (k: 8) sum:f32 { A[k, m] * B[k, n] }
      U: f32[8, 8] = compute (m: 8, n: 8) { exp(T[m, n]) }
      Q: f32[8, 8] = compute (m: 8, n: 8) { S[m, n] + U[m, n] }
      return Q
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("T", "U"), ElementsAre("S", "Q")));
}

constexpr char kTwoConvs[] = R"(
    X: f32[1, 16, 6, 6] = placeholder
    V: f32[16, 16] = placeholder
    W: f32[16, 16, 3, 3] = placeholder
    C: f32[1, 16, 6, 6] = compute (n: 1, o: 16, h: 6, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
    R: f32[1, 16, 6, 6] = compute (n: 1, o: 16, h: 6, w: 6) { max(C[n, o, h, w], 0) }
    P: f32[1, 16, 8, 9] = compute (n: 1, o: 16, h: 8, w: 9) { select(h >= 1 && h < 7 && w >= 1 && w < 7, R[n, o, h - 1, w - 1], 0) } hint "pad"
    D: f32[1, 16, 6, 7] = compute (n: 1, o: 16, h: 6, w: 7) reduce (c: 16, i: 3, j: 3) sum:f32 { P[n, c, h + i, w + j] * W[o, c, i, j] } hint "conv"
    Z: f32[1, 16, 6, 7] = compute (n: 1, o: 16, h: 6, w: 7) { max(D[n, o, h, w], 0) }
    return Z
)";

TEST(PlanTest, ZeroPaddingBecomesTheHaloOfItsSource) {
  const TensorGraph graph = Parsed(kTwoConvs);
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("C", "R"), ElementsAre("D", "Z")));
  const TensorId r = *graph.Find("R"), p = *graph.Find("P");
  ASSERT_EQ(plan.views.count(p), 1u);
  EXPECT_EQ(plan.views.at(p), r);
  const Layout& source = plan.layouts.at(r);
  const Layout& view = plan.layouts.at(p);
  EXPECT_EQ(source.fill(), Layout::Fill::kZero);
  EXPECT_EQ(source.physical_elements(), 16 * 8 * 9);
  std::set<int64_t> held;
  for (int64_t h = 0; h < 8; ++h) {
    for (int64_t w = 0; w < 9; ++w) {
      const int64_t offset = view.Offset({0, 3, h, w});
      held.insert(offset);
      if (h >= 1 && h < 7 && w >= 1 && w < 7)
        EXPECT_EQ(offset, source.Offset({0, 3, h - 1, w - 1}));
    }
  }
  EXPECT_EQ(held.size(), 72u);
}

TEST(PlanTest, ConvolutionOutputsAreBlockedByChannelButTheBoundaryIsPlain) {
  const TensorGraph graph = Parsed(kTwoConvs);
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.layouts.at(*graph.Find("R")).stride(4), 1);
  EXPECT_EQ(plan.layouts.at(*graph.Find("R")).digits().back().extent, 16);
  EXPECT_TRUE(plan.layouts.at(*graph.Find("Z")).is_row_major());
  EXPECT_TRUE(plan.layouts.at(*graph.Find("X")).is_row_major());
}

TEST(PlanTest, APaddingOfTheInputIsComputed) {
  const TensorGraph graph = Parsed(R"(
      X: f32[4] = placeholder
      P: f32[6] = compute (i: 6) { select(i >= 1 && i < 5, X[i - 1], 0) }
      Y: f32[4] = compute (i: 4) reduce (k: 3) sum:f32 { P[i + k] }
      return Y
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("P"), ElementsAre("Y")));
}

TEST(PlanTest, AReshapeInsideIsAViewOfAPlainTensor) {
  const TensorGraph graph = Parsed(R"(
      X: f32[4, 6] = placeholder
      A: f32[4, 6] = compute (i: 4, j: 6) { exp(X[i, j]) }
      F: f32[24] = compute (i: 24) { A[i floordiv 6, i floormod 6] }
      Y: f32[1] = compute (o: 1) reduce (k: 24) sum:f32 { F[k] }
      return Y
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.views.at(*graph.Find("F")), *graph.Find("A"));
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("A"), ElementsAre("Y")));
}

constexpr char kConcat[] = R"(
    X: f32[2, 4] = placeholder
    A: f32[2, 4] = compute (i: 2, j: 4) { exp(X[i, j]) }
    B: f32[2, 3] = compute (i: 2, j: 3) { X[i, j] * 2.0 }
    C: f32[2, 7] = compute (i: 2, j: 7) { select(j < 4, A[i, j], B[i, j - 4]) }
    S: f32[2] = compute (i: 2) reduce (j: 7) sum:f32 { C[i, j] }
    return S
)";

TEST(PlanTest, PartsOfAConcatenationAreWrittenInPlace) {
  const TensorGraph graph = Parsed(kConcat);
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(
      GroupNames(graph, plan),
      ElementsAre(ElementsAre("A"), ElementsAre("B"), ElementsAre("S")));
  const TensorId a = *graph.Find("A"), b = *graph.Find("B"),
                 c = *graph.Find("C");
  EXPECT_EQ(plan.views.at(a), c);
  EXPECT_EQ(plan.views.at(b), c);
  EXPECT_TRUE(plan.layouts.at(c).is_row_major());
  EXPECT_EQ(plan.layouts.at(a).Offset({1, 2}), 7 + 2);
  EXPECT_EQ(plan.layouts.at(b).Offset({1, 2}), 7 + 4 + 2);
}

TEST(PlanTest, PartsOfAConcatenationBySearchAreWrittenInPlace) {
  const TensorGraph graph = Parsed(R"(
      X: f32[2, 4] = placeholder
      A: f32[2, 4] = compute (i: 2, j: 4) { exp(X[i, j]) }
      B: f32[2, 4] = compute (i: 2, j: 4) { X[i, j] * 2.0 }
      C: f32[2, 4] = compute (i: 2, j: 4) { X[i, j] + 2.0 }
      D: f32[2, 4] = compute (i: 2, j: 4) { X[i, j] - 2.0 }
      W: f32[2, 16] = compute (i: 2, j: 16) { select(j < 8, select(j < 4, A[i, j], B[i, j - 4]), select(j < 12, C[i, j - 8], D[i, j - 12])) }
      S: f32[2] = compute (i: 2) reduce (j: 16) sum:f32 { W[i, j] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  for (const auto& [part, offset] :
       {std::pair<const char*, int>{"A", 0}, {"B", 4}, {"C", 8}, {"D", 12}}) {
    const TensorId id = *graph.Find(part);
    ASSERT_EQ(plan.views.count(id), 1) << part;
    EXPECT_EQ(plan.views.at(id), *graph.Find("W"));
    EXPECT_EQ(plan.layouts.at(id).Offset({1, 2}), 16 + offset + 2) << part;
  }
}

// [[A, B], D], and what was joined first is read with a frame of zeros: it lies
// around the whole.
TEST(PlanTest, PartsOfPartsAreWrittenInPlace) {
  const TensorGraph graph = Parsed(R"(
      X: f32[2, 4, 3] = placeholder
      A: f32[2, 4, 3] = compute (c: 2, h: 4, w: 3) { exp(X[c, h, w]) }
      B: f32[1, 4, 3] = compute (c: 1, h: 4, w: 3) { X[c, h, w] * X[1, h, w] }
      C: f32[3, 4, 3] = compute (c: 3, h: 4, w: 3) { select(c < 2, A[c, h, w], B[c - 2, h, w]) }
      P: f32[3, 6, 3] = compute (c: 3, h: 6, w: 3) { select(h >= 1 && h < 5, C[c, h - 1, w], 0) }
      D: f32[2, 4, 3] = compute (c: 2, h: 4, w: 3) reduce (k: 3, i: 3) sum:f32 { P[k, h + i, w] }
      E: f32[5, 4, 3] = compute (c: 5, h: 4, w: 3) { select(c < 3, C[c, h, w], D[c - 3, h, w]) }
      S: f32[5] = compute (c: 5) reduce (h: 4, w: 3) sum:f32 { E[c, h, w] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("A"), ElementsAre("B"), ElementsAre("D"),
                          ElementsAre("S")));
  const TensorId e = *graph.Find("E");
  for (const char* part : {"A", "B", "C", "P", "D"}) {
    const TensorId id = *graph.Find(part);
    ASSERT_EQ(plan.views.count(id), 1) << part;
    EXPECT_EQ(plan.views.at(id), e) << part;
  }
  const Layout& whole = plan.layouts.at(e);
  EXPECT_EQ(whole.fill(), Layout::Fill::kZero);
  EXPECT_EQ(whole.physical_elements(), 5 * 6 * 3);
  const auto offset = [&](const char* name, int64_t c, int64_t h) {
    return plan.layouts.at(*graph.Find(name)).Offset({c, h, 2});
  };
  EXPECT_EQ(offset("A", 1, 3), whole.Offset({1, 3, 2}));
  EXPECT_EQ(offset("B", 0, 3), whole.Offset({2, 3, 2}));
  EXPECT_EQ(offset("C", 2, 3), whole.Offset({2, 3, 2}));
  EXPECT_EQ(offset("P", 2, 4), whole.Offset({2, 3, 2}));
  EXPECT_EQ(offset("D", 1, 3), whole.Offset({4, 3, 2}));
}

// A frame along the axis of the parts would lie in the next part.
TEST(PlanTest, APartWithAFrameAlongTheAxisOfPartsIsCopied) {
  const TensorGraph graph = Parsed(R"(
      X: f32[2, 4] = placeholder
      A: f32[2, 4] = compute (i: 2, j: 4) { exp(X[i, j]) }
      B: f32[2, 4] = compute (i: 2, j: 4) { X[i, j] * 2.0 }
      P: f32[2, 6] = compute (i: 2, j: 6) { select(j >= 1 && j < 5, A[i, j - 1], 0) }
      Y: f32[2, 4] = compute (i: 2, j: 4) reduce (k: 3) sum:f32 { P[i, j + k] }
      C: f32[2, 8] = compute (i: 2, j: 8) { select(j < 4, A[i, j], B[i, j - 4]) }
      S: f32[2] = compute (i: 2) reduce (j: 8) sum:f32 { C[i, j] }
      return S, Y
  )");
  const Plan plan = MakePlan(graph, {});
  const TensorId a = *graph.Find("A");
  EXPECT_EQ(plan.views.count(a), 0);
  EXPECT_EQ(plan.views.at(*graph.Find("P")), a);
}

// Rows put behind each other along a new dimension, which reads them renamed.
TEST(PlanTest, StackedPartsAreWrittenInPlace) {
  const TensorGraph graph = Parsed(R"(
      X: f32[2, 4] = placeholder
      A: f32[2, 4] = compute (i: 2, j: 4) { exp(X[i, j]) }
      B: f32[2, 4] = compute (i: 2, j: 4) { A[i, j] * 2.0 }
      SA: f32[2, 1, 4] = compute (i: 2, n: 1, j: 4) { A[i, n * 4 + j] } hint reshape
      SB: f32[2, 1, 4] = compute (i: 2, n: 1, j: 4) { B[i, j] } hint reshape
      Y: f32[2, 2, 4] = compute (i: 2, n: 2, j: 4) { select(n < 1, SA[i, n, j], SB[i, n - 1, j]) }
      return Y
  )");
  const Plan plan = MakePlan(graph, {.connect = PlanOptions::Connect::kNone});
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("A"), ElementsAre("B")));
  const TensorId a = *graph.Find("A"), b = *graph.Find("B"),
                 y = *graph.Find("Y");
  EXPECT_EQ(plan.views.at(a), y);
  EXPECT_EQ(plan.views.at(b), y);
  EXPECT_EQ(plan.layouts.at(a).Offset({1, 2}), 8 + 2);
  EXPECT_EQ(plan.layouts.at(b).Offset({1, 2}), 8 + 4 + 2);
}

// Stacked along the last dimension, or with rows cut, elements would not be
// written where they lie side by side.
TEST(PlanTest, PartsThatLieApartInTheirWholeAreCopied) {
  for (const char* stacked :
       {"SA: f32[2, 4, 1] = compute (i: 2, j: 4, n: 1) { A[i, j] } hint "
        "reshape\n"
        "Y: f32[2, 4, 2] = compute (i: 2, j: 4, n: 2) { select(n < 1, "
        "SA[i, j, n], B[i, j, n - 1]) }\n",
        "SA: f32[4, 2, 1] = compute (i: 4, j: 2, n: 1) { A[floordiv(i * 2 + j, "
        "4), "
        "floormod(i * 2 + j, 4)] } hint reshape\n"
        "Y: f32[5, 2, 1] = compute (i: 5, j: 2, n: 1) { select(i < 4, "
        "SA[i, j, n], B[1, j, n]) }\n"}) {
    const TensorGraph graph = Parsed(absl::StrCat(
        "X: f32[2, 4] = placeholder\n"
        "A: f32[2, 4] = compute (i: 2, j: 4) { exp(X[i, j]) }\n"
        "B: f32[2, 4, 1] = compute (i: 2, j: 4, n: 1) { X[i, j] + 1.0 }\n",
        stacked, "return Y\n"));
    const Plan plan = MakePlan(graph, {});
    EXPECT_EQ(plan.views.count(*graph.Find("A")), 0) << stacked;
  }
}

TEST(PlanTest, AConcatenationOfWhatLiesElsewhereIsComputed) {
  for (const char* part : {"X[i, j - 4]", "A[i, j - 4]"}) {
    const TensorGraph graph = Parsed(absl::StrCat(
        "X: f32[2, 4] = placeholder\n"
        "A: f32[2, 4] = compute (i: 2, j: 4) { exp(X[i, j]) }\n"
        "C: f32[2, 8] = compute (i: 2, j: 8) { select(j < 4, A[i, j], ",
        part,
        ") }\n"
        "S: f32[2] = compute (i: 2) reduce (j: 8) sum:f32 { C[i, j] }\n"
        "return S\n"));
    const Plan plan = MakePlan(graph, {});
    EXPECT_TRUE(plan.views.empty()) << part;
    EXPECT_THAT(GroupNames(graph, plan).back(), ElementsAre("S"));
  }
}

// The keys of attention, read with neighbours a row apart.
TEST(PlanTest, AViewThatItsReaderWouldGatherIsComputed) {
  const TensorGraph graph = Parsed(R"(
      X: f32[16, 32] = placeholder
      K: f32[16, 32] = compute (m: 16, d: 32) { exp(X[m, d]) }
      T: f32[32, 16] = compute (d: 32, m: 16) { K[m, d] }
      Y: f32[16, 16] = compute (l: 16, m: 16) reduce (d: 32) sum:f32 { X[l, d] * T[d, m] }
      return Y
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(
      GroupNames(graph, plan),
      ElementsAre(ElementsAre("K"), ElementsAre("T"), ElementsAre("Y")));
}

TEST(PlanTest, WhatOnlyLooksLikePaddingIsNone) {
  // Each differs from a zero padding in one thing.
  const char* bodies[] = {
      "select(i >= 1 && i < 5, A[i - 1], 1)",  // not zero
      "select(i >= 2 && i < 5, A[i - 1], 0)",  // hides an element
      "select(i >= 1 && i < 5, A[4 - i], 0)",  // reversed
      "select(i >= 1 || i < 5, A[0], 0)",      // no conjunction
  };
  for (const char* body : bodies) {
    const TensorGraph graph = Parsed(absl::StrCat(
        "X: f32[4] = placeholder\nA: f32[4] = compute (i: 4) { exp(X[i]) }\nP: "
        "f32[6] = compute (i: 6) { ",
        body, " }\nY: f32[6] = compute (i: 6) { P[5 - i] }\nreturn Y\n"));
    if (graph.size() == 0) continue;
    EXPECT_FALSE(AsZeroPadding(graph, *graph.Find("P")).has_value()) << body;
  }
}

// `count` maps one after the other, each `body` with its operand for $0.
std::string ChainText(int count, const std::string& body) {
  std::string text = "t0: f32[4, 33] = placeholder\n";
  for (int i = 1; i <= count; ++i)
    absl::StrAppend(&text, "t", i, ": f32[4, 33] = compute (i: 4, j: 33) { ",
                    absl::Substitute(body, absl::StrCat("t", i - 1, "[i, j]")),
                    " }\n");
  return absl::StrCat(text, "return t", count, "\n");
}

TEST(PlanTest, LongChainsAreCutIntoGroupsOfEqualSize) {
  const TensorGraph graph = Parsed(ChainText(300, "sigmoid($0)"));
  const Plan plan = MakePlan(graph, {});
  ASSERT_EQ(plan.groups.size(), 5);
  for (size_t g = 0; g + 1 < plan.groups.size(); ++g) {
    EXPECT_EQ(plan.groups[g].members.size(), 64);
    EXPECT_THAT(plan.groups[g].why,
                ElementsAre("it is as large as groups become"));
  }
  EXPECT_EQ(plan.groups.back().members.size(), 300 - 4 * 64);
}

// Written out, n of them are 2^n operations.
TEST(PlanTest, WhatIsReadTwiceCountsTwice) {
  const TensorGraph graph = Parsed(ChainText(40, "$0 * sigmoid($0)"));
  const Plan plan = MakePlan(graph, {});
  for (const Group& group : plan.groups)
    EXPECT_LE(group.members.size(), 8) << group.why.front();
  EXPECT_EQ(plan.groups.size(), 5);
}

}  // namespace
}  // namespace tilewright

#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/plan/plan_testing.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// Twice as many rows and columns, between two convolutions.
TEST(PlanLayoutsTest, ACopyOfWholePixelsKeepsTheirBlocks) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 6, 6] = placeholder
      V: f32[32, 16] = placeholder
      C: f32[1, 32, 6, 6] = compute (n: 1, o: 32, h: 6, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
      R: f32[1, 32, 12, 12] = compute (n: 1, o: 32, h: 12, w: 12) { C[n, o, h floordiv 2, w floordiv 2] }
      D: f32[1, 16, 12, 12] = compute (n: 1, o: 16, h: 12, w: 12) reduce (c: 32) sum:f32 { R[n, c, h, w] * V[c, o] } hint "conv"
      return D
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.layouts.at(*graph.Find("R")).ToString(),
            Layout::BlockedLast({1, 32, 12, 12}, 1, 16).ToString());
}

// Square weights of attention, transposed for the product behind: a copy that
// rows of the product can read, not one in the order of what it copies.
TEST(PlanLayoutsTest, ATransposedSquareMatrixIsNoImage) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 32, 32] = placeholder
      V: f32[1, 16, 32] = placeholder
      A: f32[1, 32, 32] = compute (b: 1, q: 32, k: 32) { exp(X[b, q, k]) }
      T: f32[1, 32, 32] = compute (b: 1, k: 32, q: 32) { A[b, q, k] }
      Y: f32[1, 16, 32] = compute (b: 1, c: 16, q: 32) reduce (k: 32) sum:f32 { V[b, c, k] * T[b, k, q] }
      return Y
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_FALSE(plan.views.count(*graph.Find("T")));
  EXPECT_TRUE(plan.layouts.at(*graph.Find("T")).is_row_major());
}

// Tokens through the matrix of each expert: one matrix for a batch of others.
TEST(PlanLayoutsTest, AProductOfABatchWithOneMatrixIsNoConvolution) {
  const TensorGraph graph = Parsed(R"(
      X: f32[32, 8] = placeholder
      W: f32[4, 8, 64] = placeholder
      Y: f32[4, 32, 64] = compute (e: 4, t: 32, f: 64) reduce (d: 8) sum:f32 { X[t, d] * W[e, d, f] }
      R: f32[4, 32] = compute (e: 4, t: 32) reduce (f: 64) sum:f32 { Y[e, t, f] }
      return R
  )");
  EXPECT_TRUE(MakePlan(graph, {}).layouts.at(*graph.Find("Y")).is_row_major());
}

// An image and its transpose: plain is as good as the order of the latter.
TEST(PlanLayoutsTest, WhatReadsPlainRowsTooIsPlain) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 4, 24, 24] = placeholder
      E: f32[1, 4, 24, 24] = compute (n: 1, c: 4, h: 24, w: 24) { exp(X[n, c, h, w]) }
      T: f32[1, 4, 24, 24] = compute (n: 1, c: 4, h: 24, w: 24) { E[n, c, w, h] }
      A: f32[1, 4, 24, 24] = compute (n: 1, c: 4, h: 24, w: 24) { E[n, c, h, w] + T[n, c, h, w] }
      S: f32[1, 4, 24] = compute (n: 1, c: 4, w: 24) reduce (h: 24) sum:f32 { A[n, c, h, w] }
      return S
  )");
  EXPECT_TRUE(MakePlan(graph, {}).layouts.at(*graph.Find("A")).is_row_major());
}

// Filters that the model computes, three by three, and views of them.
TEST(PlanLayoutsTest, ComputedFiltersLieByOutputChannel) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 6, 6] = placeholder
      S: f32[16] = placeholder
      W: f32[1, 32, 16, 3, 3] = placeholder
      F: f32[1, 32, 16, 3, 3] = compute (b: 1, o: 32, c: 16, y: 3, x: 3) { W[0, o, c, y, x] * S[c] }
      V: f32[32, 16, 3, 3] = compute (o: 32, c: 16, y: 3, x: 3) { F[0, o, c, y, x] }
      C: f32[1, 32, 4, 4] = compute (n: 1, o: 32, h: 4, w: 4) reduce (c: 16, y: 3, x: 3) sum:f32 { X[n, c, h + y, w + x] * V[o, c, y, x] } hint "conv"
      R: f32[1, 32, 4, 4] = compute (n: 1, o: 32, h: 4, w: 4) { max(C[n, o, h, w], 0.0) }
      return R
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.layouts.at(*graph.Find("F")).ToString(),
            "(1, 32, 16, 3, 3) [d0, d2, d3, d4, d1]");
}

// Windows of tokens whose features follow: no channels are in dimension 1.
TEST(PlanLayoutsTest, AProductOfRowsIsPlain) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 6, 8] = placeholder
      V: f32[32, 16] = placeholder
      W: f32[8, 24] = placeholder
      C: f32[1, 32, 6, 8] = compute (n: 1, o: 32, h: 6, w: 8) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
      P: f32[1, 32, 6, 24] = compute (n: 1, o: 32, h: 6, m: 24) reduce (k: 8) sum:f32 { C[n, o, h, k] * W[k, m] }
      S: f32[1, 32, 6] = compute (n: 1, o: 32, h: 6) reduce (m: 24) sum:f32 { P[n, o, h, m] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_FALSE(plan.layouts.at(*graph.Find("C")).is_row_major());
  EXPECT_TRUE(plan.layouts.at(*graph.Find("P")).is_row_major());
}

// A part that is there twice cannot be written in place.
TEST(PlanLayoutsTest, CopiesOfPartsKeepTheirChannelsSideBySide) {
  for (const auto& [channels, blocked] :
       {std::pair<int, bool>{32, true}, {24, false}}) {
    const TensorGraph graph = Parsed(absl::StrCat(
        "X: f32[1, 16, 6, 6] = placeholder\nV: f32[", channels,
        ", 16] = placeholder\nC: f32[1, ", channels,
        ", 6, 6] = compute (n: 1, o: ", channels,
        ", h: 6, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "
        "\"conv\"\nJ: f32[1, ",
        2 * channels, ", 6, 6] = compute (n: 1, o: ", 2 * channels,
        ", h: 6, w: 6) { select(o < ", channels, ", C[n, o, h, w], C[n, o - ",
        channels, ", h, w]) }\nS: f32[1, ", 2 * channels,
        ", 1, 1] = compute (n: 1, o: ", 2 * channels,
        ", h: 1, w: 1) reduce (y: 6, x: 6) sum:f32 "
        "{ J[n, o, y, x] }\nreturn S\n"));
    const Layout layout = MakePlan(graph, {}).layouts.at(*graph.Find("J"));
    EXPECT_EQ(layout.digits().back().dim, 1) << layout.ToString();
    EXPECT_EQ(layout.digits().back().extent, blocked ? 16 : 2 * channels)
        << layout.ToString();
  }
}

// Convolutions multiply or convert several narrow numbers at a time; those of
// floats to few channels compute vectors of pixels.
TEST(PlanLayoutsTest, NarrowDataOfConvolutionsHaveChannelsSideBySide) {
  for (const auto& [type, channels, filters, side_by_side] :
       {std::tuple<const char*, int, int, int>{"f32", 32, 32, 0},
        {"f16", 32, 32, 16},
        {"f16", 32, 2, 0},
        {"i8", 32, 32, 16},
        {"i8", 32, 2, 16},
        {"i8", 24, 32, 24},
        {"i8", 3, 32, 0}}) {
    const TensorGraph graph = Parsed(absl::Substitute(
        "X: f32[1, $1, 6, 6] = placeholder\n"
        "V: $0[$2, $1, 3, 3] = placeholder\n"
        "Q: $0[1, $1, 6, 6] = compute (n: 1, o: $1, h: 6, w: 6) "
        "{ cast:$0(X[n, o, h, w]) }\n"
        "C: f32[1, $2, 4, 4] = compute (n: 1, o: $2, h: 4, w: 4) "
        "reduce (c: $1, y: 3, x: 3) sum:f32 { cast:f32(Q[n, c, h + y, w + x]) "
        "* cast:f32(V[o, c, y, x]) } hint \"conv\"\nreturn C\n",
        type, channels, filters));
    const Layout layout = MakePlan(graph, {}).layouts.at(*graph.Find("Q"));
    EXPECT_EQ(layout.is_row_major(), side_by_side == 0)
        << type << " " << filters << " " << layout.ToString();
    if (side_by_side > 0) {
      EXPECT_EQ(layout.digits().back().dim, 1) << layout.ToString();
      EXPECT_EQ(layout.digits().back().extent, side_by_side);
    }
  }
}

TEST(PlanLayoutsTest, AConvolutionBeforeATranspositionPutsChannelsLast) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 6, 6] = placeholder
      V: f32[32, 16] = placeholder
      W: f32[32, 8] = placeholder
      C: f32[1, 32, 6, 6] = compute (n: 1, o: 32, h: 6, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
      F: f32[1, 32, 36] = compute (n: 1, o: 32, p: 36) { C[n, o, p floordiv 6, p floormod 6] }
      T: f32[1, 36, 32] = compute (n: 1, p: 36, o: 32) { F[n, o, p] }
      Y: f32[1, 36, 8] = compute (n: 1, p: 36, m: 8) reduce (k: 32) sum:f32 { T[n, p, k] * W[k, m] }
      return Y
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(GroupNames(graph, plan),
              ElementsAre(ElementsAre("C"), ElementsAre("Y")));
  EXPECT_TRUE(plan.layouts.at(*graph.Find("T")).is_row_major());
}

TEST(PlanLayoutsTest, ChannelsThatWouldLeaveBlocksPartlyEmptyComeLast) {
  for (const auto& [channels, last] :
       {std::pair<int, bool>{24, true}, {127, true}, {17, false}, {3, false}}) {
    const TensorGraph graph = Parsed(absl::StrCat(
        "X: f32[1, 16, 6, 6] = placeholder\nV: f32[", channels,
        ", 16] = placeholder\nC: f32[1, ", channels,
        ", 6, 6] = compute (n: 1, o: ", channels,
        ", h: 6, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "
        "\"conv\"\nS: f32[1, 6, 6] = compute (n: 1, h: 6, w: 6) reduce (c: ",
        channels, ") sum:f32 { C[n, c, h, w] }\nreturn S\n"));
    const Layout layout = MakePlan(graph, {}).layouts.at(*graph.Find("C"));
    EXPECT_EQ(layout.digits().back().dim == 1, last) << layout.ToString();
    EXPECT_EQ(layout.physical_elements(), channels * 36);
  }
}

TEST(PlanLayoutsTest, FewChannelsComeLastWhereTheDataHasThemSideBySide) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 6, 6] = placeholder
      V: f32[32, 16] = placeholder
      W: f32[5, 32] = placeholder
      B: f32[1, 32, 6, 6] = compute (n: 1, o: 32, h: 6, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
      C: f32[1, 5, 6, 6] = compute (n: 1, o: 5, h: 6, w: 6) reduce (c: 32) sum:f32 { B[n, c, h, w] * W[o, c] } hint "conv"
      S: f32[1, 6, 6] = compute (n: 1, h: 6, w: 6) reduce (c: 5) sum:f32 { C[n, c, h, w] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.layouts.at(*graph.Find("B")).digits().back().extent, 16);
  EXPECT_EQ(plan.layouts.at(*graph.Find("C")).digits().back().dim, 1);
}

// Queries of attention between channels: normalized pixel by pixel, they stay
// as the convolution has written them, and no product has to gather.
TEST(PlanLayoutsTest, ANormOverPixelsKeepsChannelsSideBySide) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 4, 4] = placeholder
      V: f32[32, 16] = placeholder
      C: f32[1, 32, 4, 4] = compute (n: 1, o: 32, h: 4, w: 4) reduce (c: 16) sum:f32 { X[n, c, h, w] * V[o, c] } hint "conv"
      F: f32[32, 16] = compute (o: 32, p: 16) { C[0, o, p floordiv 4, p floormod 4] }
      Q: f32[32] = compute (o: 32) reduce (p: 16) sum:f32 { F[o, p] * F[o, p] }
      N: f32[32, 16] = compute (o: 32, p: 16) { F[o, p] / Q[o] }
      T: f32[16, 32] = compute (p: 16, o: 32) { N[o, p] }
      Y: f32[32, 32] = compute (a: 32, b: 32) reduce (k: 16) sum:f32 { N[a, k] * T[k, b] }
      return Y
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_THAT(
      GroupNames(graph, plan),
      ElementsAre(ElementsAre("C"), ElementsAre("Q", "N"), ElementsAre("Y")));
  EXPECT_EQ(plan.layouts.at(*graph.Find("N")),
            *Layout::Parse("(32, 16) [d0/16, d1, d0%16]"));
}

// Where rows are read whole, plain serves as well, whatever the rows' order.
TEST(PlanLayoutsTest, AMapOfPermutedRowsIsPlain) {
  const TensorGraph graph = Parsed(R"(
      X: f32[4, 6, 8] = placeholder
      A: f32[4, 6, 8] = compute (i: 4, j: 6, k: 8) { exp(X[i, j, k]) }
      P: f32[6, 4, 8] = compute (j: 6, i: 4, k: 8) { A[i, j, k] }
      B: f32[6, 4, 8] = compute (j: 6, i: 4, k: 8) { P[j, i, k] * 2.0 }
      S: f32[6, 4] = compute (j: 6, i: 4) reduce (k: 8) max:f32 { B[j, i, 7 - k] * B[j, i, k] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_FALSE(plan.layouts.at(*graph.Find("P")).is_row_major());
  EXPECT_TRUE(plan.layouts.at(*graph.Find("B")).is_row_major());
}

// Space to depth: neighbours in memory would be two channels of a pixel, and
// then its next column. Whole blocks of channels instead.
TEST(PlanLayoutsTest, AMapOfPhasesDoesNotFollowThem) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 8, 32, 32] = placeholder
      S: f32[1, 32, 16, 16] = compute (n: 1, c: 32, h: 16, w: 16) { X[n, c floordiv 4, h * 2 + c floordiv 2 floormod 2, w * 2 + c floormod 2] }
      A: f32[1, 32, 16, 16] = compute (n: 1, c: 32, h: 16, w: 16) { exp(S[n, c, h, w]) }
      M: f32[1, 32, 15, 15] = compute (n: 1, c: 32, h: 15, w: 15) reduce (i: 2, j: 2) max:f32 { A[n, c, h + i, w + j] }
      return M
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_TRUE(plan.views.count(*graph.Find("S")));
  EXPECT_EQ(plan.layouts.at(*graph.Find("A")).ToString(),
            Layout::BlockedLast({1, 32, 16, 16}, 1, 16).ToString());
}

// What is mirrored is a copy; the map behind it in its group has the layout of
// its readers all the same.
TEST(PlanLayoutsTest, AMapOfACopyFeedsWinogradInBlocks) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 32, 18, 18] = placeholder
      W: f32[32, 32, 3, 3] = placeholder
      F: f32[1, 32, 18, 18] = compute (n: 1, c: 32, h: 18, w: 18) { X[n, c, h, 17 - w] }
      A: f32[1, 32, 18, 18] = compute (n: 1, c: 32, h: 18, w: 18) { X[n, c, h, w] + F[n, c, h, w] }
      C: f32[1, 32, 16, 16] = compute (n: 1, o: 32, h: 16, w: 16) reduce (c: 32, i: 3, j: 3) sum:f32 { A[n, c, h + i, w + j] * W[o, c, i, j] } hint "winograd2"
      return C
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_FALSE(plan.views.count(*graph.Find("F")));
  EXPECT_EQ(plan.layouts.at(*graph.Find("A")).ToString(),
            Layout::BlockedLast({1, 32, 18, 18}, 1, 16).ToString());
}

TEST(PlanLayoutsTest, ACopyOfPlainDataFeedsWinogradInBlocks) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 32, 18, 18] = placeholder
      W: f32[32, 32, 3, 3] = placeholder
      F: f32[1, 32, 18, 18] = compute (n: 1, c: 32, h: 18, w: 18) { X[n, c, h, 17 - w] }
      C: f32[1, 32, 16, 16] = compute (n: 1, o: 32, h: 16, w: 16) reduce (c: 32, i: 3, j: 3) sum:f32 { F[n, c, h + i, w + j] * W[o, c, i, j] } hint "winograd2"
      return C
  )");
  EXPECT_EQ(MakePlan(graph, {}).layouts.at(*graph.Find("F")).ToString(),
            Layout::BlockedLast({1, 32, 18, 18}, 1, 16).ToString());
}

// Channels that a layer of tokens leaves last, though there are rows enough for
// blocks of them.
TEST(PlanLayoutsTest, TheChannelsThatWinogradReadsAreLastWhereverTheyAre) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 16, 18, 32] = placeholder
      U: f32[32, 32] = placeholder
      W: f32[32, 32, 3, 3] = placeholder
      L: f32[1, 16, 18, 32] = compute (n: 1, h: 16, w: 18, o: 32) reduce (c: 32) sum:f32 { X[n, h, w, c] * U[c, o] }
      T: f32[1, 32, 16, 18] = compute (n: 1, c: 32, h: 16, w: 18) { L[n, h, w, c] }
      P: f32[1, 32, 18, 20] = compute (n: 1, c: 32, h: 18, w: 20) { select(h - 1 >= 0 && h - 1 < 16 && (w - 1 >= 0 && w - 1 < 18), T[n, c, h - 1, w - 1], 0.0) }
      C: f32[1, 32, 16, 18] = compute (n: 1, o: 32, h: 16, w: 18) reduce (c: 32, i: 3, j: 3) sum:f32 { P[n, c, h + i, w + j] * W[o, c, i, j] } hint "winograd2"
      return C
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_TRUE(plan.views.count(*graph.Find("T")));
  EXPECT_EQ(
      plan.layouts.at(*graph.Find("L")).ToString(),
      "(1, 16, 18, 32) [d0, d1, d2, d3] pad(0, 1, 1, 0 | 0, 1, 1, 0)=zero");
}

// Two channels, which a view puts last: in vectors of pixels, unless the data's
// channels lie side by side and were not copied.
TEST(PlanLayoutsTest, AConvolutionOfPlainDataToFewChannelsIsPlain) {
  const auto layout = [](const std::string& data) {
    const TensorGraph graph = Parsed(
        absl::StrCat(R"(
      X: f32[1, 32, 12, 12] = placeholder
      U: f32[32, 32] = placeholder
      W: f32[2, 32, 3, 3] = placeholder
      B: f32[1, 32, 12, 12] = compute (n: 1, o: 32, h: 12, w: 12) reduce (c: 32) sum:f32 { X[n, c, h, w] * U[o, c] } hint conv
      P: f32[1, 32, 12, 12] = compute (n: 1, c: 32, h: 12, w: 12) { B[n, c, h, w] } hint plain_copy
      C: f32[1, 2, 10, 10] = compute (n: 1, o: 2, h: 10, w: 10) reduce (c: 32, i: 3, j: 3) sum:f32 { )",
                     data, R"([n, c, h + i, w + j] * W[o, c, i, j] } hint "conv"
      T: f32[1, 10, 10, 2] = compute (n: 1, h: 10, w: 10, o: 2) { C[n, o, h, w] }
      Y: f32[1, 10, 10, 2] = compute (n: 1, h: 10, w: 10, o: 2) { exp(T[n, h, w, o]) }
      return Y, P
    )"));
    return MakePlan(graph, {}).layouts.at(*graph.Find("C"));
  };
  EXPECT_EQ(layout("B").ToString(), "(1, 2, 10, 10) [d0, d2, d3, d1]");
  EXPECT_TRUE(layout("P").is_row_major());
  EXPECT_TRUE(layout("X").is_row_major());
}

// Keys of an attention: a cast of a transposed view. The product with queries
// loads vectors of tokens, so the cast transposes them.
TEST(PlanLayoutsTest, AMapBeforeAProductOfItsRowsIsPlain) {
  const TensorGraph graph = Parsed(R"(
      X: f16[64, 48] = placeholder
      U: f16[48, 48] = placeholder
      L: f16[64, 48] = compute (t: 64, o: 48) reduce (c: 48) sum:f32 { cast:f32(X[t, c]) * cast:f32(U[c, o]) }
      K: f16[4, 12, 64] = compute (h: 4, d: 12, t: 64) { L[t, h * 12 + d] }
      A: f32[4, 64, 12] = placeholder
      B: f32[4, 12, 64] = compute (h: 4, d: 12, t: 64) { cast:f32(K[h, d, t]) }
      S: f32[4, 64, 64] = compute (h: 4, m: 64, n: 64) reduce (d: 12) sum:f32 { A[h, m, d] * B[h, d, n] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_TRUE(plan.views.count(*graph.Find("K")));
  EXPECT_TRUE(plan.layouts.at(*graph.Find("B")).is_row_major());
}

// A pool between a convolution of halves and what works on them widened.
TEST(PlanLayoutsTest, AWidenedPoolKeepsBlocks) {
  const TensorGraph graph = Parsed(R"(
      X: f16[1, 32, 12, 12] = placeholder
      U: f16[32, 32] = placeholder
      C: f16[1, 32, 12, 12] = compute (n: 1, o: 32, h: 12, w: 12) reduce (c: 32) sum:f32 { cast:f32(X[n, c, h, w]) * cast:f32(U[o, c]) } hint conv
      P: f16[1, 32, 10, 10] = compute (n: 1, c: 32, h: 10, w: 10) reduce (i: 3, j: 3) max:f32 { cast:f32(C[n, c, h + i, w + j]) }
      F: f32[1, 32, 10, 10] = compute (n: 1, c: 32, h: 10, w: 10) { cast:f32(P[n, c, h, w]) }
      S: f32[1, 32, 1, 1] = compute (n: 1, c: 32, h: 1, w: 1) reduce (i: 10, j: 10) sum:f32 { F[n, c, i, j] }
      return S
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.layouts.at(*graph.Find("F")),
            Layout::BlockedLast({1, 32, 10, 10}, 1, 16));
}

// Depth to space and back: every second column lies side by side.
TEST(PlanLayoutsTest, AMapOfInterleavedColumnsIsPlain) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 32, 16, 16] = placeholder
      D: f32[1, 8, 32, 32] = compute (n: 1, c: 8, h: 32, w: 32) { X[n, c * 4 + h floormod 2 * 2 + w floormod 2, h floordiv 2, w floordiv 2] }
      A: f32[1, 8, 32, 32] = compute (n: 1, c: 8, h: 32, w: 32) { exp(D[n, c, h, w]) }
      M: f32[1, 8, 31, 31] = compute (n: 1, c: 8, h: 31, w: 31) reduce (i: 2, j: 2) max:f32 { A[n, c, h + i, w + j] }
      return M
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_TRUE(plan.views.count(*graph.Find("D")));
  EXPECT_TRUE(plan.layouts.at(*graph.Find("A")).is_row_major());
}

// Pixels of an image that are rows of a product of bytes: four channels of one
// are multiplied at a time.
TEST(PlanLayoutsTest, BytesOfAProductHaveItsTermsSideBySide) {
  const TensorGraph graph = Parsed(R"(
      X: f32[1, 32, 6, 6] = placeholder
      W: i8[32, 48] = placeholder
      Q: u8[1, 32, 6, 6] = compute (n: 1, c: 32, h: 6, w: 6) { cast:u8(min(max(round(X[n, c, h, w]), 0.0), 255.0)) }
      T: u8[1, 36, 32] = compute (n: 1, t: 36, c: 32) { Q[n, c, t floordiv 6, t floormod 6] }
      P: i32[1, 36, 48] = compute (n: 1, m: 36, o: 48) reduce (k: 32) sum:i32 { cast:i32(T[n, m, k]) * cast:i32(W[k, o]) } hint matmul
      return P
  )");
  const Plan plan = MakePlan(graph, {});
  EXPECT_EQ(plan.layouts.at(*graph.Find("Q")).ToString(),
            "(1, 32, 6, 6) [d0, d2, d3, d1]");
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/tiling/align/contraction_axes.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::optional<ContractionAxes> AxesOf(const char* text) {
  const auto graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return AsContraction(*graph, graph->outputs()[0]);
}

TEST(ContractionAxesTest, ProductsOfMatricesPerHead) {
  const auto axes = AxesOf(R"(
    Q: f16[12, 128, 64] = placeholder
    K: f16[12, 128, 64] = placeholder
    S: f16[12, 128, 128] = compute (h: 12, m: 128, n: 128)
      reduce (k: 64) sum:f32 {
        cast:f32(Q[h, m, k]) * cast:f32(K[h, n, k]) }
    return S)");
  ASSERT_TRUE(axes);
  EXPECT_EQ(axes->dtype, DType::kFloat16);
  EXPECT_THAT(axes->batch, ElementsAre(0));
  EXPECT_THAT(axes->rows, ElementsAre(1));
  EXPECT_THAT(axes->columns, ElementsAre(2));
}

TEST(ContractionAxesTest, ConvolutionsWithPaddingAreProductsToo) {
  const auto axes = AxesOf(R"(
    X: f32[1, 8, 10, 10] = placeholder
    W: f32[16, 8, 3, 3] = placeholder
    C: f32[1, 16, 10, 10] = compute (n: 1, o: 16, h: 10, w: 10)
      reduce (c: 8, i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 11 && w + j >= 1 && w + j < 11,
               X[n, c, h + i - 1, w + j - 1], 0.0) * W[o, c, i, j] }
    return C)");
  ASSERT_TRUE(axes);
  EXPECT_THAT(axes->rows, ElementsAre(2, 3));  // X comes first
  EXPECT_THAT(axes->columns, ElementsAre(1));
  EXPECT_THAT(axes->batch, IsEmpty());
}

TEST(ContractionAxesTest, WhatIsNone) {
  // Depthwise: every channel has its own filter, no operand is used twice.
  EXPECT_FALSE(AxesOf(R"(
    X: f32[8, 12, 12] = placeholder
    W: f32[8, 3, 3] = placeholder
    C: f32[8, 10, 10] = compute (c: 8, h: 10, w: 10) reduce (i: 3, j: 3) sum:f32
      { X[c, h + i, w + j] * W[c, i, j] }
    return C)"));
  EXPECT_FALSE(AxesOf(R"(
    X: f32[8, 12] = placeholder
    S: f32[8] = compute (m: 8) reduce (n: 12) sum:f32 { X[m, n] * X[m, n] }
    return S)"));
  EXPECT_FALSE(AxesOf(R"(
    A: f32[8, 12] = placeholder
    B: f32[12, 4] = placeholder
    S: f32[8, 4] = compute (m: 8, n: 4) reduce (k: 12) max:f32
      { A[m, k] * B[k, n] }
    return S)"));
}

}  // namespace
}  // namespace tilewright

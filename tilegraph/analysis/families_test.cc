#include "tilegraph/analysis/families.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kInputs[] = R"(
    A: f32[8, 12] = placeholder
    B: f32[12, 4] = placeholder
    X: f32[2, 8, 12, 12] = placeholder
    W: f32[16, 8, 3, 3] = placeholder
    P: f32[16, 8, 1, 1] = placeholder
    D: f32[8, 3, 3] = placeholder
    G: f32[16, 4, 3, 3] = placeholder
    I: i64[5] = placeholder
)";

// The output Y of what `text` makes of the inputs above.
TensorGraph Graph(const std::string& text) {
  absl::StatusOr<TensorGraph> graph =
      ParseText(absl::StrCat(kInputs, text, "\nreturn Y\n"));
  EXPECT_THAT(graph.status(), IsOk()) << text;
  return graph.ok() ? *std::move(graph) : TensorGraph();
}

constexpr char kProduct[] = R"(
    Y: f32[8, 4] = compute (m: 8, n: 4) reduce (k: 12) sum:f32
      { A[m, k] * B[k, n] })";
constexpr char kConvolution[] = R"(
    Y: f32[2, 16, 10, 10] = compute (n: 2, o: 16, h: 10, w: 10)
      reduce (c: 8, i: 3, j: 3) sum:f32
      { X[n, c, h + i, w + j] * W[o, c, i, j] })";
constexpr char kPointwise[] = R"(
    Y: f32[2, 16, 6, 6] = compute (n: 2, o: 16, h: 6, w: 6)
      reduce (c: 8, i: 1, j: 1) sum:f32
      { X[n, c, h * 2 + i, w * 2 + j] * P[o, c, i, j] })";
constexpr char kDepthwise[] = R"(
    Y: f32[2, 8, 10, 10] = compute (n: 2, c: 8, h: 10, w: 10)
      reduce (i: 3, j: 3) sum:f32 { X[n, c, h + i, w + j] * D[c, i, j] })";
// Two groups of channels.
constexpr char kGrouped[] = R"(
    Y: f32[2, 16, 10, 10] = compute (n: 2, o: 16, h: 10, w: 10)
      reduce (c: 4, i: 3, j: 3) sum:f32
      { X[n, o floordiv 8 * 4 + c, h + i, w + j] * G[o, c, i, j] })";
constexpr char kPool[] = R"(
    Y: f32[2, 8, 6, 6] = compute (n: 2, c: 8, h: 6, w: 6)
      reduce (i: 2, j: 2) max:f32 { X[n, c, h * 2 + i, w * 2 + j] })";

TEST(FamiliesTest, OneOfEach) {
  const std::map<ComputeFamily, std::vector<std::string>> texts = {
      {ComputeFamily::kPadding,
       {"Y: f32[10, 12] = compute (m: 10, n: 12) { select(m >= 1 && m < 9, "
        "A[m - 1, n], 0.0) }"}},
      {ComputeFamily::kConcatenation,
       {"Y: f32[16, 12] = compute (m: 16, n: 12) { select(m < 8, A[m, n], "
        "A[m - 8, n]) }"}},
      {ComputeFamily::kMove,
       {"Y: f32[12, 8] = compute (n: 12, m: 8) { A[m, n] }",
        "Y: f32[5, 12] = compute (i: 5, n: 12) { A[I[i], n] }",
        "Y: f32[4, 12] = compute (m: 4, n: 12) { A[m * 2, n] }"}},
      {ComputeFamily::kElementwise,
       {"Y: f32[8, 12] = compute (m: 8, n: 12) { max(A[m, n], 0.0) }",
        "Y: f32[8, 12] = compute (m: 8, n: 12) { A[m, n] }",
        "Y: f32[8, 12] = compute (m: 8, n: 12) { A[m, n] + B[n, 0] }"}},
      {ComputeFamily::kContraction,
       {kProduct, kPointwise,
        "Y: f32[8, 4] = compute (m: 8, n: 4) reduce (k: 12) max:f32 { A[m, k] "
        "* B[k, n] }"}},
      {ComputeFamily::kConvolution, {kConvolution}},
      {ComputeFamily::kDepthwise, {kDepthwise, kGrouped}},
      {ComputeFamily::kPooling, {kPool}},
      {ComputeFamily::kRowReduction,
       {"Y: f32[8] = compute (m: 8) reduce (n: 12) sum:f32 { exp(A[m, n]) }",
        "Y: f32[12] = compute (n: 12) reduce (m: 8) max:f32 { A[m, n] }"}},
      {ComputeFamily::kReduction,
       {"Y: f32[4] = compute (n: 4) reduce (k: 12) sum:f32 { A[0, k] * B[k, n] "
        "* A[1, k floordiv 2] }"}}};
  for (const auto& [family, examples] : texts) {
    for (const std::string& text : examples) {
      const TensorGraph graph = Graph(text);
      ASSERT_GT(graph.size(), 0) << text;
      EXPECT_EQ(Name(FamilyOf(graph, graph.outputs()[0])), Name(family))
          << text;
    }
  }
  const TensorGraph graph = Graph(kProduct);
  EXPECT_EQ(FamilyOf(graph, *graph.Find("A")), ComputeFamily::kInput);
}

std::optional<ContractionRoles> Contraction(const std::string& text) {
  const TensorGraph graph = Graph(text);
  auto roles = AsContraction(graph, graph.outputs()[0]);
  if (roles) {
    EXPECT_THAT(VerifyRoles(graph, graph.outputs()[0], *roles), IsOk());
  }
  return roles;
}

TEST(ContractionRolesTest, ProductsOfMatricesPerHead) {
  const auto roles = Contraction(R"(
    Q: f16[12, 128, 64] = placeholder
    K: f16[12, 128, 64] = placeholder
    Y: f16[12, 128, 128] = compute (h: 12, m: 128, n: 128)
      reduce (k: 64) sum:f32 {
        cast:f32(Q[h, m, k]) * cast:f32(K[h, n, k]) })");
  ASSERT_TRUE(roles);
  EXPECT_EQ(roles->dtype, DType::kFloat16);
  EXPECT_THAT(roles->batch, ElementsAre(0));
  EXPECT_THAT(roles->rows, ElementsAre(1));
  EXPECT_THAT(roles->columns, ElementsAre(2));
}

TEST(ContractionRolesTest, ConvolutionsWithPaddingAreProductsToo) {
  const auto roles = Contraction(R"(
    Y: f32[2, 16, 12, 12] = compute (n: 2, o: 16, h: 12, w: 12)
      reduce (c: 8, i: 3, j: 3) sum:f32 {
        select(h + i >= 1 && h + i < 13 && w + j >= 1 && w + j < 13,
               X[n, c, h + i - 1, w + j - 1], 0.0) * W[o, c, i, j] })");
  ASSERT_TRUE(roles);
  EXPECT_THAT(roles->rows, ElementsAre(0, 2, 3));  // X comes first
  EXPECT_THAT(roles->columns, ElementsAre(1));
  EXPECT_THAT(roles->batch, IsEmpty());
}

TEST(ContractionRolesTest, WhatIsNone) {
  // Every channel has its own filter, no operand is used twice.
  EXPECT_FALSE(Contraction(kDepthwise));
  EXPECT_FALSE(Contraction(kPool));
  EXPECT_FALSE(Contraction(
      "Y: f32[8] = compute (m: 8) reduce (n: 12) sum:f32 { A[m, n] * A[m, n] "
      "}"));
  EXPECT_FALSE(
      Contraction("Y: f32[8, 4] = compute (m: 8, n: 4) reduce (k: 12) max:f32 "
                  "{ A[m, k] * B[k, n] }"));
}

std::optional<ConvolutionRoles> Convolution(const std::string& text) {
  const TensorGraph graph = Graph(text);
  auto roles = AsConvolution(graph, graph.outputs()[0]);
  if (!roles) return std::nullopt;
  EXPECT_THAT(VerifyRoles(graph, graph.outputs()[0], *roles), IsOk());
  EXPECT_EQ(graph.tensor(roles->data.source()).name, "X");
  return roles;
}

TEST(ConvolutionRolesTest, DenseGroupedDepthwiseAndPointwise) {
  for (const char* text : {kConvolution, kPointwise, kGrouped, kDepthwise}) {
    const auto roles = Convolution(text);
    ASSERT_TRUE(roles) << text;
    EXPECT_EQ(roles->data_channels, 1);
    EXPECT_EQ(roles->dense, text == kConvolution || text == kPointwise);
  }
}

TEST(ConvolutionRolesTest, TransposedOnesChooseTheirTapByPhase) {
  const auto roles = Convolution(R"(
    F: f32[2, 3, 2, 3, 8, 4] = placeholder
    Y: f32[2, 4, 20, 20] = compute (n: 2, o: 4, h: 20, w: 20)
      reduce (c: 8, i: 3, j: 3) sum:f32
      { X[n, c, h floordiv 2 + i, w floordiv 2 + j]
        * F[h floormod 2, i, w floormod 2, j, c, o] })");
  ASSERT_TRUE(roles);
  EXPECT_TRUE(roles->dense);
}

TEST(ConvolutionRolesTest, ChannelsMayLieLast) {
  const auto roles = Convolution(R"(
    F: f32[16, 12, 3] = placeholder
    Y: f32[2, 16, 6, 12] = compute (n: 2, o: 16, h: 6, w: 12)
      reduce (c: 12, i: 3) sum:f32 { X[n, h + i, w, c] * F[o, c, i] })");
  ASSERT_TRUE(roles);
  EXPECT_EQ(roles->data_channels, 3);
}

TEST(ConvolutionRolesTest, WhatIsNone) {
  EXPECT_FALSE(Convolution(kPool));
  EXPECT_FALSE(Convolution(kProduct));
  // A product of matrices, the same for all.
  EXPECT_FALSE(Convolution(R"(
    Q: f32[3, 8, 12] = placeholder
    Y: f32[3, 8, 4] = compute (h: 3, m: 8, n: 4) reduce (k: 12) sum:f32
      { Q[h, m, k] * B[k, n] })"));
  // Every image has a filter of its own.
  EXPECT_FALSE(Convolution(R"(
    F: f32[2, 16, 8] = placeholder
    Y: f32[2, 16, 12, 12] = compute (n: 2, o: 16, h: 12, w: 12)
      reduce (c: 8) sum:f32 { X[n, c, h, w] * F[n, o, c] })"));
}

TEST(VerifyRolesTest, WrongOnesAreRefused) {
  const TensorGraph product = Graph(kProduct);
  const TensorId id = product.outputs()[0];
  ContractionRoles roles = *AsContraction(product, id);
  EXPECT_THAT(VerifyRoles(product, id, roles), IsOk());
  std::swap(roles.rows, roles.columns);
  EXPECT_EQ(VerifyRoles(product, id, roles).code(),
            absl::StatusCode::kInternal);
  roles = *AsContraction(product, id);
  roles.batch = roles.rows;
  EXPECT_FALSE(VerifyRoles(product, id, roles).ok());

  const TensorGraph graph = Graph(kGrouped);
  const TensorId y = graph.outputs()[0];
  ConvolutionRoles convolution = *AsConvolution(graph, y);
  EXPECT_THAT(VerifyRoles(graph, y, convolution), IsOk());
  convolution.dense = true;
  EXPECT_FALSE(VerifyRoles(graph, y, convolution).ok());
  convolution = *AsConvolution(graph, y);
  convolution.data_channels = 2;
  EXPECT_FALSE(VerifyRoles(graph, y, convolution).ok());
  convolution = *AsConvolution(graph, y);
  std::swap(convolution.data, convolution.filter);
  EXPECT_FALSE(VerifyRoles(graph, y, convolution).ok());
}

// Whatever is drawn has a family, and roles that are true.
TEST(VerifyRolesTest, OfRandomGraphs) {
  std::map<ComputeFamily, int> seen;
  int contractions = 0, convolutions = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const TensorGraph graph =
        BuildGraph(RandomChain(seed, 6, 0.5), seed, RandomGraphOptions());
    for (const Tensor& tensor : graph.tensors()) {
      ++seen[FamilyOf(graph, tensor.id)];
      if (const auto roles = AsContraction(graph, tensor.id)) {
        ++contractions;
        EXPECT_THAT(VerifyRoles(graph, tensor.id, *roles), IsOk())
            << PrintText(graph);
      }
      if (const auto roles = AsConvolution(graph, tensor.id)) {
        ++convolutions;
        EXPECT_THAT(VerifyRoles(graph, tensor.id, *roles), IsOk())
            << PrintText(graph);
      }
    }
  }
  for (const ComputeFamily family :
       {ComputeFamily::kInput, ComputeFamily::kPadding, ComputeFamily::kMove,
        ComputeFamily::kElementwise, ComputeFamily::kConvolution,
        ComputeFamily::kContraction, ComputeFamily::kPooling,
        ComputeFamily::kRowReduction})
    EXPECT_GT(seen[family], 0) << Name(family);
  EXPECT_GT(contractions, 20);
  EXPECT_GT(convolutions, 5);
}

}  // namespace
}  // namespace tilewright

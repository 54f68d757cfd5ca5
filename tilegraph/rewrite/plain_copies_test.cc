#include "tilegraph/rewrite/plain_copies.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/rewrite/rewrite_testing.h"

namespace tilewright {
namespace {

// A convolution of 4 channels to CHANNELS, and what follows it.
std::string Text(int64_t channels, const std::string& rest) {
  return absl::StrReplaceAll(
      absl::StrCat("X: f32[1, 4, 5, 6] = placeholder\n"
                   "W: f32[CHANNELS, 4] = placeholder\n"
                   "T: f32[1, CHANNELS, 5, 6] = compute (n: 1, o: CHANNELS, "
                   "h: 5, w: 6) reduce (c: 4) sum:f32 "
                   "{ X[n, c, h, w] * W[o, c] } hint conv\n",
                   rest),
      {{"CHANNELS", absl::StrCat(channels)}});
}

constexpr char kRelu[] =
    "Y: f32[1, CHANNELS, 5, 6] = compute (n: 1, o: CHANNELS, h: 5, w: 6) "
    "{ max(T[n, o, h, w], 0.0) }\n";

RewrittenGraph Copied(const TensorGraph& graph) {
  RewrittenGraph rewritten = CopyConvolvedOutputs(graph, 16);
  EXPECT_THAT(VerifyGraph(rewritten.graph), IsOk());
  return rewritten;
}

int Copies(const TensorGraph& graph) {
  int copies = 0;
  for (const Tensor& tensor : graph.tensors())
    copies += tensor.hint.role() == ComputeRole::kPlainCopy;
  return copies;
}

TEST(PlainCopiesTest, AConvolutionAtTheEndIsComputedInBlocksAndCopied) {
  for (const std::string& rest :
       {std::string("return T\n"), absl::StrCat(kRelu, "return Y\n")}) {
    const TensorGraph graph = Parsed(Text(32, rest));
    const RewrittenGraph copied = Copied(graph);
    ASSERT_EQ(Copies(copied.graph), 1);
    const TensorId out = copied.graph.outputs()[0];
    EXPECT_EQ(copied.graph.tensor(out).hint.role(), ComputeRole::kPlainCopy);
    EXPECT_EQ(copied.ids[graph.outputs()[0]], out);
    const Plan plan = MakePlan(copied.graph, {});
    ASSERT_EQ(plan.groups.size(), 2u) << ToString(plan, copied.graph);
    EXPECT_EQ(plan.layouts.at(plan.groups[0].output),
              Layout::BlockedLast({1, 32, 5, 6}, 1, 16));
    EXPECT_TRUE(plan.layouts.at(out).is_row_major());
  }
}

TEST(PlainCopiesTest, ADepthwiseConvolutionBehindOneIsToo) {
  const std::string depthwise =
      "U: f32[32, 3] = placeholder\n"
      "D: f32[1, 32, 5, 4] = compute (n: 1, o: 32, h: 5, w: 4) reduce (k: 3) "
      "sum:f32 { T[n, o, h, w + k] * U[o, k] } hint conv\nreturn D\n";
  const RewrittenGraph copied = Copied(Parsed(Text(32, depthwise)));
  ASSERT_EQ(Copies(copied.graph), 1);
  const Plan plan = MakePlan(copied.graph, {});
  ASSERT_EQ(plan.groups.size(), 3u) << ToString(plan, copied.graph);
  EXPECT_EQ(plan.layouts.at(plan.groups[1].output),
            Layout::BlockedLast({1, 32, 5, 4}, 1, 16));
}

// Only what a convolution computes: the other part is none. Another that reads
// the convolution reads it as it was computed.
TEST(PlainCopiesTest, APartOfAConcatenationAtTheEndIsToo) {
  const std::string concatenation =
      "M: f32[1, 32, 5, 6] = compute (n: 1, c: 32, h: 5, w: 6) "
      "{ T[n, c, 0, 0] }\n"
      "Y: f32[1, 64, 5, 6] = compute (n: 1, c: 64, h: 5, w: 6) "
      "{ select(c < 32, T[n, c, h, w], M[n, c - 32, h, w]) } hint concat\n"
      "return Y\n";
  const RewrittenGraph copied = Copied(Parsed(Text(32, concatenation)));
  ASSERT_EQ(Copies(copied.graph), 1);
  const Plan plan = MakePlan(copied.graph, {});
  EXPECT_EQ(plan.layouts.at(*copied.graph.Find("T")),
            Layout::BlockedLast({1, 32, 5, 6}, 1, 16))
      << ToString(plan, copied.graph);
  EXPECT_TRUE(plan.views.count(*copied.graph.Find("T.plain")));
}

// A maximum of windows at the end, behind a convolution; that of whole images
// is a vector or two.
TEST(PlainCopiesTest, APoolBehindOneIsTooIfItHasPixels) {
  const auto copies = [](int64_t rows) {
    return Copies(
        Copied(Parsed(Text(
                   32, absl::StrCat("P: f32[1, 32, ", rows,
                                    ", 5] = compute (n: 1, c: 32, h: ", rows,
                                    ", w: 5) reduce (i: ", 6 - rows,
                                    ", j: 2) max:f32 { T[n, c, h + i, "
                                    "w + j] }\nreturn P\n"))))
            .graph);
  };
  EXPECT_EQ(copies(4), 1);
  EXPECT_EQ(copies(3), 0);
}

// All lanes of a vector read the same data where a group has whole vectors.
TEST(PlainCopiesTest, AConvolutionInGroupsOfBlocksIsTooWhateverItsData) {
  for (const auto& [channels, copies] :
       std::vector<std::pair<int, int>>{{8, 0}, {16, 1}, {48, 1}}) {
    const std::string text = absl::StrReplaceAll(
        "X: f32[1, 8, 5, 6] = placeholder\n"
        "W: f32[TWICE, 4, 3] = placeholder\n"
        "T: f32[1, TWICE, 5, 4] = compute (n: 1, o: TWICE, h: 5, w: 4) "
        "reduce (c: 4, k: 3) sum:f32 "
        "{ X[n, o floordiv HALF * 4 + c, h, w + k] * W[o, c, k] } hint conv\n"
        "return T\n",
        {{"TWICE", absl::StrCat(2 * channels)},
         {"HALF", absl::StrCat(channels)}});
    EXPECT_EQ(Copies(Copied(Parsed(text)).graph), copies) << text;
  }
}

// Who reads the result inside reads it where it was computed.
TEST(PlainCopiesTest, ReadersInsideDoNotReadTheCopy) {
  const TensorGraph graph =
      Parsed(Text(16, absl::StrCat(kRelu, "return T, Y\n")));
  const RewrittenGraph copied = Copied(graph);
  EXPECT_EQ(Copies(copied.graph), 2);
  for (const Tensor& tensor : copied.graph.tensors()) {
    for (const TensorId input : copied.graph.Inputs(tensor.id))
      EXPECT_NE(copied.graph.tensor(input).hint.role(),
                ComputeRole::kPlainCopy);
  }
}

TEST(PlainCopiesTest, WhatGainsNothingStays) {
  // Few channels, each channel by itself, a softmax behind it.
  const std::string depthwise =
      "X: f32[1, 16, 5, 6] = placeholder\n"
      "W: f32[16, 2] = placeholder\n"
      "T: f32[1, 16, 5, 5] = compute (n: 1, o: 16, h: 5, w: 5) "
      "reduce (k: 2) sum:f32 { X[n, o, h, w + k] * W[o, k] } hint conv\n"
      "return T\n";
  const std::string reduced =
      "M: f32[1, 5, 6] = compute (n: 1, h: 5, w: 6) reduce (o: 16) max:f32 "
      "{ T[n, o, h, w] }\nreturn M\n";
  for (const std::string& text :
       {Text(3, "return T\n"), depthwise, Text(16, reduced)})
    EXPECT_EQ(Copies(Copied(Parsed(text)).graph), 0) << text;
}

// A convolution of 3 x 3 from what `rest` makes of 32 channels to CHANNELS.
std::string Narrow(int64_t channels, const std::string& rest) {
  return absl::StrReplaceAll(
      absl::StrCat(Text(32, ""), rest,
                   "V: f32[CHANNELS, 32, 3, 3] = placeholder\n"
                   "N: f32[1, CHANNELS, 3, 4] = compute (n: 1, o: CHANNELS, "
                   "h: 3, w: 4) reduce (c: 32, i: 3, j: 3) sum:f32 "
                   "{ Y[n, c, h + i, w + j] * V[o, c, i, j] } hint conv\n"),
      {{"CHANNELS", absl::StrCat(channels)}});
}

TEST(PlainCopiesTest, DataOfConvolutionsToFewChannelsAreCopied) {
  const std::string relu = absl::StrReplaceAll(kRelu, {{"CHANNELS", "32"}});
  const std::string after =
      "Z: f32[1, 5] = compute (n: 1, o: 5) reduce (h: 3, w: 4) sum:f32 "
      "{ N[n, 0, h, w] }\nreturn Z\n";
  const auto copies = [&](const std::string& text) {
    const TensorGraph graph = Parsed(text);
    const RewrittenGraph copied = CopyDataReadByPixels(graph, 16);
    EXPECT_THAT(VerifyGraph(copied.graph), IsOk());
    return Copies(copied.graph);
  };
  EXPECT_EQ(copies(Narrow(3, relu) + "return N\n"), 1);
  EXPECT_EQ(copies(Narrow(11, relu) + "return N\n"), 1);
  EXPECT_EQ(copies(Narrow(8, relu) + after), 1);
  // Channels side by side are as fast, or fill their vectors.
  EXPECT_EQ(copies(Narrow(11, relu) + after), 0);
  EXPECT_EQ(copies(Narrow(16, relu) + "return N\n"), 0);
}

// Two groups of 12 channels, behind 24: a block of 16 is of both. Groups of 8
// share blocks, groups of 16 fill them.
TEST(PlainCopiesTest, GroupsThatCutBlocksReadACopyAndArePlain) {
  for (const int group : {8, 12, 16}) {
    const TensorGraph graph = Parsed(absl::StrReplaceAll(
        R"(
      X: f32[1, 16, 5, 6] = placeholder
      U: f32[ALL, 16] = placeholder
      W: f32[ALL, GROUP, 3, 3] = placeholder
      T: f32[1, ALL, 5, 6] = compute (n: 1, o: ALL, h: 5, w: 6) reduce (c: 16) sum:f32 { X[n, c, h, w] * U[o, c] } hint conv
      G: f32[1, ALL, 3, 4] = compute (n: 1, o: ALL, h: 3, w: 4) reduce (c: GROUP, i: 3, j: 3) sum:f32 { T[n, o floordiv GROUP * GROUP + c, h + i, w + j] * W[o, c, i, j] } hint conv
      S: f32[1, ALL] = compute (n: 1, o: ALL) reduce (h: 3, w: 4) sum:f32 { G[n, o, h, w] }
      return S
    )",
        {{"ALL", absl::StrCat(2 * group)}, {"GROUP", absl::StrCat(group)}}));
    const auto by_pixels = [&](const char* name) {
      const TensorId id = *graph.Find(name);
      return IsByPixels(graph.tensor(id), *AsConvolution(graph, id), false, 16);
    };
    EXPECT_EQ(by_pixels("G"), group == 12);
    EXPECT_FALSE(by_pixels("T"));
    const RewrittenGraph copied = CopyDataReadByPixels(graph, 16);
    EXPECT_EQ(Copies(copied.graph), group == 12 ? 1 : 0);
    const Plan plan = MakePlan(copied.graph, {});
    const auto is_plain = [&](const char* name) {
      return plan.layouts.at(copied.ids[*graph.Find(name)]).is_row_major();
    };
    EXPECT_FALSE(is_plain("T"));
    EXPECT_EQ(is_plain("G"), group == 12);
  }
}

// Rows of pixels are multiplied, for every channel: both operands are copied. A
// product over channels reads them as they lie.
TEST(PlainCopiesTest, OperandsOfProductsByChannelAreCopied) {
  const auto product = [](const std::string& sum) {
    return Parsed(Text(
        32, absl::StrCat("R: f32[1, 32, 6, 5] = compute (n: 1, c: 32, h: 6, w: "
                         "5) { T[n, c, w, h] } hint transpose\n",
                         sum, "return P\n")));
  };
  const RewrittenGraph by_channel = CopyDataReadByPixels(
      product("P: f32[1, 32, 5, 5] = compute (n: 1, c: 32, h: 5, w: 5) reduce "
              "(k: 6) sum:f32 { T[n, c, h, k] * R[n, c, k, w] } hint matmul\n"),
      16);
  EXPECT_THAT(VerifyGraph(by_channel.graph), IsOk());
  EXPECT_EQ(Copies(by_channel.graph), 2);
  for (const TensorId input :
       by_channel.graph.Inputs(*by_channel.graph.Find("P")))
    EXPECT_EQ(by_channel.graph.tensor(input).hint.role(),
              ComputeRole::kPlainCopy);
  const RewrittenGraph over_channels = CopyDataReadByPixels(
      product("P: f32[5, 6, 6] = compute (h: 5, v: 6, w: 6) reduce (c: 32) "
              "sum:f32 { T[0, c, h, v] * R[0, c, w, h] } hint matmul\n"),
      16);
  EXPECT_EQ(Copies(over_channels.graph), 0);
}

TEST(PlainCopiesTest, TheCopyOfDataIsPlainAndAGroupOfItsOwn) {
  const std::string relu = absl::StrReplaceAll(kRelu, {{"CHANNELS", "32"}});
  const TensorGraph graph = Parsed(Narrow(3, relu) + "return N\n");
  const RewrittenGraph copied = CopyDataReadByPixels(graph, 16);
  const Plan plan = MakePlan(copied.graph, {});
  ASSERT_EQ(plan.groups.size(), 3u) << ToString(plan, copied.graph);
  EXPECT_FALSE(plan.layouts.at(plan.groups[0].output).is_row_major());
  EXPECT_EQ(copied.graph.tensor(plan.groups[1].output).hint.role(),
            ComputeRole::kPlainCopy);
  EXPECT_TRUE(plan.layouts.at(plan.groups[1].output).is_row_major());
  EXPECT_TRUE(plan.layouts.at(plan.groups[2].output).is_row_major());
}

TEST(PlainCopiesTest, ResultsStayTheSame) {
  const TensorGraph graph =
      Parsed(Text(16, absl::StrCat(kRelu, "return Y, T\n")));
  const RewrittenGraph copied = Copied(graph);
  Random random(3);
  HostTensor x(DType::kFloat32, {1, 4, 5, 6}), w(DType::kFloat32, {16, 4});
  for (HostTensor* tensor : {&x, &w}) {
    for (int64_t i = 0; i < tensor->num_elements(); ++i)
      tensor->Set(i, {random.Normal(), 0});
  }
  const auto outputs = [&](const TensorGraph& g) {
    auto interpreter =
        Interpreter::Create(g, {{*g.Find("X"), x}, {*g.Find("W"), w}}, {});
    EXPECT_THAT(interpreter, IsOk());
    std::vector<HostTensor> results;
    for (const TensorId id : g.outputs()) {
      auto result = (*interpreter)->Evaluate(id);
      EXPECT_THAT(result, IsOk());
      results.push_back(*std::move(result));
    }
    return results;
  };
  const auto want = outputs(graph), got = outputs(copied.graph);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    for (int64_t e = 0; e < want[i].num_elements(); ++e)
      ASSERT_EQ(got[i].Get(e).f, want[i].Get(e).f);
  }
}

}  // namespace
}  // namespace tilewright

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Strings = std::vector<std::string>;

// y = (conv(x) - mean) / sqrt(var + eps) * scale + shift, on one channel pair.
ModelBuilder ConvThenNorm(bool second_reader) {
  ModelBuilder b;
  b.Input("X", {1, 1, 1, 2}).Floats("W", {2, 1, 1, 1}, {2, 3});
  b.Floats("B", {2}, {1, -1}).Floats("scale", {2}, {1.5, 0.5});
  b.Floats("shift", {2}, {0.25, -0.5}).Floats("mean", {2}, {0.5, 2});
  b.Floats("var", {2}, {4, 9});
  b.Node("Conv", {"X", "W", "B"}, {"T"});
  b.Node("BatchNormalization", {"T", "scale", "shift", "mean", "var"},
         {second_reader ? "U" : "Y"})
      .Float("epsilon", 0);
  if (second_reader) b.Node("Add", {"U", "T"}, {"Y"});
  b.Output("Y");
  return b;
}

TEST(FoldBatchNormTest, BatchNormGoesIntoTheWeights) {
  ModelBuilder b = ConvThenNorm(false);
  const ImportedModel model = Import(b);
  EXPECT_EQ(Hints(model), (Strings{"conv", "bias"}));
  const std::vector<float> y = Evaluate(model, {Floats({1, 1, 1, 2}, {1, 5})});
  const std::vector<float> expected = {(2 * 1 + 1 - 0.5f) / 2 * 1.5f + 0.25f,
                                       (2 * 5 + 1 - 0.5f) / 2 * 1.5f + 0.25f,
                                       (3 * 1 - 1 - 2.0f) / 3 * 0.5f - 0.5f,
                                       (3 * 5 - 1 - 2.0f) / 3 * 0.5f - 0.5f};
  ASSERT_EQ(y.size(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << i;
}

TEST(FoldBatchNormTest, BatchNormStaysWhereTheConvolutionHasAnotherReader) {
  ModelBuilder b = ConvThenNorm(true);
  EXPECT_EQ(Hints(Import(b)), (Strings{"conv", "bias", "batchnorm", "add"}));
}

TEST(FoldBatchNormTest, BatchNormGoesIntoGemmWeightsOfBothOrientations) {
  for (const int64_t trans : {0, 1}) {
    ModelBuilder b;
    b.Input("A", {1, 2}).Floats("B", {2, 2}, {1, 2, 3, 4});
    b.Floats("scale", {2}, {2, 3}).Floats("shift", {2}, {10, 20});
    b.Floats("mean", {2}, {0, 0}).Floats("var", {2}, {1, 1}).Output("Y");
    b.Node("Gemm", {"A", "B"}, {"T"}).Int("transB", trans);
    b.Node("BatchNormalization", {"T", "scale", "shift", "mean", "var"}, {"Y"})
        .Float("epsilon", 0);
    const ImportedModel model = Import(b);
    EXPECT_EQ(Hints(model), (Strings{"matmul", "bias"}));
    EXPECT_EQ(Evaluate(model, {Floats({1, 2}, {1, 10})}),
              trans == 1 ? (std::vector<float>{21 * 2 + 10, 43 * 3 + 20})
                         : (std::vector<float>{31 * 2 + 10, 42 * 3 + 20}));
  }
}

// Channels of a transposed convolution are the second dimension of its weights,
// of each group.
TEST(FoldBatchNormTest, BatchNormGoesIntoWeightsOfTransposedConvolutions) {
  ModelBuilder b;
  b.Input("X", {1, 4, 1, 1}).Output("Y");
  b.Floats("W", {4, 2, 1, 2},
           {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  b.Floats("scale", {4}, {1, 2, 3, 4}).Floats("shift", {4}, {0, 1, 2, 3});
  b.Floats("mean", {4}, {0, 0, 0, 1}).Floats("var", {4}, {1, 4, 1, 1});
  b.Node("ConvTranspose", {"X", "W"}, {"T"}).Int("group", 2);
  b.Node("BatchNormalization", {"T", "scale", "shift", "mean", "var"}, {"Y"})
      .Float("epsilon", 0);
  const ImportedModel model = Import(b);
  const Strings hints = Hints(model);
  EXPECT_EQ(std::count(hints.begin(), hints.end(), "batchnorm"), 0);
  EXPECT_EQ(hints.back(), "bias");
  // Before the norm: 1 + 5, 2 + 6 and 3 + 7, 4 + 8 of the first group, 9 + 13,
  // 10 + 14 and 11 + 15, 12 + 16 of the second.
  EXPECT_EQ(Evaluate(model, {Floats({1, 4, 1, 1}, {1, 1, 1, 1})}),
            (std::vector<float>{6, 8, 10 + 1, 12 + 1, 3 * 22 + 2, 3 * 24 + 2,
                                4 * 25 + 3, 4 * 27 + 3}));
}

}  // namespace
}  // namespace tilewright

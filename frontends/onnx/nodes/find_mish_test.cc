#include <string>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Strings = std::vector<std::string>;

// X times the tanh of its softplus, the operands in either order.
ModelBuilder Written(bool first) {
  ModelBuilder b;
  b.Input("X", {1, 4});
  b.Node("Softplus", {"X"}, {"S"});
  b.Node("Tanh", {"S"}, {"T"});
  b.Node("Mul", first ? Strings{"X", "T"} : Strings{"T", "X"}, {"Y"});
  b.Output("Y");
  return b;
}

TEST(FindMishTest, TheThreeNodesAreOne) {
  for (const bool first : {true, false}) {
    ModelBuilder b = Written(first);
    const ImportedModel model = Import(b);
    EXPECT_EQ(Hints(model), Strings{"mish"});
    const std::vector<float> y =
        Evaluate(model, {Floats({1, 4}, {-2, 0, 1, 30})});
    const std::vector<float> expected = {-0.25250148f, 0, 0.86509839f, 30};
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
  }
}

// Where 1 + e^x is 1 in f32.
TEST(FindMishTest, SmallResultsKeepTheirDigits) {
  ModelBuilder b = Written(true);
  const std::vector<float> y =
      Evaluate(Import(b), {Floats({1, 4}, {-20, -30, -60, -80})});
  const std::vector<double> expected = {-4.1223072e-8, -2.8072869e-12,
                                        -5.2539065e-25, -1.4438811e-33};
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i] / expected[i], 1, 1e-6) << i;
}

TEST(FindMishTest, WhatElseReadsThePartsKeepsThem) {
  ModelBuilder b = Written(true);
  b.Output("T");
  EXPECT_EQ(Hints(Import(b)), (Strings{"softplus", "tanh", "mish"}));
}

TEST(FindMishTest, ATanhOfSomethingElseStays) {
  ModelBuilder b;
  b.Input("X", {1, 4}).Input("Z", {1, 4});
  b.Node("Softplus", {"Z"}, {"S"});
  b.Node("Tanh", {"S"}, {"T"});
  b.Node("Mul", {"X", "T"}, {"Y"});
  b.Output("Y");
  EXPECT_EQ(Hints(Import(b)), (Strings{"softplus", "tanh", "mul"}));
}

}  // namespace
}  // namespace tilewright

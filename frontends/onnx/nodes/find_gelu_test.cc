#include <cmath>
#include <string>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Strings = std::vector<std::string>;

// C = 1 + erf(X / sqrt(2)).
ModelBuilder Cumulative() {
  ModelBuilder b;
  b.Input("X", {1, 4});
  b.Floats("root", {}, {1.41421356F});
  b.Floats("one", {}, {1}).Floats("half", {}, {0.5});
  b.Node("Div", {"X", "root"}, {"S"});
  b.Node("Erf", {"S"}, {"E"});
  b.Node("Add", {"E", "one"}, {"C"});
  return b;
}

void ExpectGelu(ModelBuilder& b) {
  const ImportedModel model = Import(b);
  EXPECT_EQ(Hints(model), Strings{"gelu"});
  const std::vector<float> y =
      Evaluate(model, {Floats({1, 4}, {-2, 0, 1, 30})});
  const std::vector<float> expected = {-0.04550026F, 0, 0.84134475F, 30};
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
}

TEST(FindGeluTest, TheOrdersOfItsFactors) {
  const Strings orders[][2] = {
      {{"X", "C"}, {"P", "half"}},
      {{"half", "X"}, {"P", "C"}},
      {{"C", "half"}, {"X", "P"}},
  };
  for (const auto& [first, second] : orders) {
    ModelBuilder b = Cumulative();
    b.Node("Mul", first, {"P"});
    b.Node("Mul", second, {"Y"});
    b.Output("Y");
    ExpectGelu(b);
  }
}

TEST(FindGeluTest, AMultiplicationInPlaceOfTheDivision) {
  ModelBuilder b;
  b.Input("X", {1, 4});
  b.Floats("root", {1}, {0.70710678F});
  b.Floats("one", {1}, {1}).Floats("half", {1}, {0.5});
  b.Node("Mul", {"root", "X"}, {"S"});
  b.Node("Erf", {"S"}, {"E"});
  b.Node("Add", {"one", "E"}, {"C"});
  b.Node("Mul", {"X", "C"}, {"P"});
  b.Node("Mul", {"P", "half"}, {"Y"});
  b.Output("Y");
  ExpectGelu(b);
}

TEST(FindGeluTest, WhatElseReadsThePartsKeepsThem) {
  ModelBuilder b = Cumulative();
  b.Node("Mul", {"X", "C"}, {"P"});
  b.Node("Mul", {"P", "half"}, {"Y"});
  b.Output("Y").Output("C");
  EXPECT_EQ(Hints(Import(b)), (Strings{"div", "erf", "add", "gelu"}));
}

TEST(FindGeluTest, OtherFactorsStay) {
  ModelBuilder other_x = Cumulative();
  other_x.Input("Z", {1, 4});
  other_x.Node("Mul", {"Z", "C"}, {"P"});
  other_x.Node("Mul", {"P", "half"}, {"Y"});
  ModelBuilder other_half = Cumulative();
  other_half.Node("Mul", {"X", "C"}, {"P"});
  other_half.Node("Mul", {"P", "one"}, {"Y"});
  for (ModelBuilder* b : {&other_x, &other_half}) {
    b->Output("Y");
    EXPECT_EQ(Hints(Import(*b)),
              (Strings{"div", "erf", "add", "mul", "mul"}));
  }
}

// [1, 1, 1] times [1, 4] has three dimensions.
TEST(FindGeluTest, AConstantThatAddsADimensionStays) {
  ModelBuilder b = Cumulative();
  b.Floats("deep", {1, 1, 1}, {0.5});
  b.Node("Mul", {"X", "C"}, {"P"});
  b.Node("Mul", {"P", "deep"}, {"Y"});
  b.Output("Y");
  EXPECT_EQ(Hints(Import(b)), (Strings{"div", "erf", "add", "mul", "mul"}));
}

}  // namespace
}  // namespace tilewright

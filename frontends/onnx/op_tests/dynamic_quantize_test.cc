// DynamicQuantizeLinear beside its definition, by each of its outputs, and the
// products of integers that it is written for.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Output 0 is the bytes, 1 the scale, 2 the zero point.
Outcome Quantize(const Given& x, int output) {
  const std::string names[] = {"y", "scale", "zero"};
  ModelBuilder b(11);
  b.Input("x", x.shape);
  b.Node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  b.model().mutable_graph()->add_output()->set_name(names[output]);
  return RunModel(b, {x});
}

double ToByte(double value) {
  return std::min(255.0, std::max(0.0, std::nearbyint(value)));
}

struct Quantized {
  double scale, zero;
  Values bytes;
};

Quantized Reference(const Values& x) {
  double least = 0, most = 0;
  for (const double value : x) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  Quantized result;
  result.scale = most == least ? 1 : (most - least) / 255;
  result.zero = ToByte(-least / result.scale);
  for (const double value : x) {
    result.bytes.push_back(static_cast<float>(
        ToByte(std::nearbyint(value / result.scale) + result.zero)));
  }
  return result;
}

void ExpectReference(const Given& x) {
  const Quantized expected = Reference(x.values);
  ExpectNear(Quantize(x, 0), x.shape, expected.bytes);
  ExpectNear(Quantize(x, 1), {}, {static_cast<float>(expected.scale)});
  ExpectNear(Quantize(x, 2), {}, {static_cast<float>(expected.zero)});
}

TEST(DynamicQuantizeTest, RangesAreThoseOfTheValuesAndZero) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    // All positive, all negative, or both.
    const double low = i % 3 == 0 ? 1 : -2, high = i % 3 == 1 ? -1 : 3;
    Given x = {{2, random.UniformInt(1, 4), 3}, {}};
    for (int64_t e = 0; e < 6 * x.shape[1]; ++e)
      x.values.push_back(static_cast<float>(random.Uniform(low, high)));
    SCOPED_TRACE(i);
    ExpectReference(x);
  }
}

// The scale is 1.
TEST(DynamicQuantizeTest, TiesGoToTheEvenInteger) {
  const Values halves = {-100.5, 154.5, 0.5, 1.5, 2.5, -0.5, -1.5};
  ExpectNear(Quantize(Vector(halves), 1), {}, {1});
  ExpectNear(Quantize(Vector(halves), 2), {}, {100});
  ExpectNear(Quantize(Vector(halves), 0), {7},
             {0, 254, 100, 102, 102, 100, 98});
  ExpectNear(Quantize(Vector({-101.5, 153.5, 0.5}), 2), {}, {102});
}

TEST(DynamicQuantizeTest, ResultsAreSaturated) {
  // The zero point is 2 and 253.5 rounds to 254.
  ExpectNear(Quantize(Vector({-1.5, 253.5}), 0), {2}, {0, 255});
  ExpectReference(Vector({-1.5, 253.5}));
}

TEST(DynamicQuantizeTest, ZerosAreZeros) {
  ExpectReference(Vector({0, 0, 0}));
  ExpectNear(Quantize(Vector({0, 0}), 1), {}, {1});
}

TEST(DynamicQuantizeTest, AScalarIsItsOwnRange) {
  ExpectReference({{}, {2}});
  ExpectReference({{}, {-2}});
}

// What quantize_dynamic of ONNX Runtime writes for a MatMul.
TEST(DynamicQuantizeTest, ProductsOfIntegersComeBackToFloats) {
  constexpr int64_t kRows = 3, kTerms = 6, kColumns = 5;
  Random random(4);
  Given x = {{kRows, kTerms}, {}};
  for (int64_t e = 0; e < kRows * kTerms; ++e)
    x.values.push_back(static_cast<float>(random.Uniform(-2, 3)));
  std::vector<int64_t> weights;
  for (int64_t e = 0; e < kTerms * kColumns; ++e)
    weights.push_back(random.UniformInt(-128, 127));
  ModelBuilder b(11);
  b.Input("x", x.shape);
  b.Integers("w", onnx::TensorProto::INT8, {kTerms, kColumns}, weights);
  b.Integers("wz", onnx::TensorProto::INT8, {}, {3}).Floats("ws", {}, {0.25f});
  b.Node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
  b.Node("MatMulInteger", {"xq", "w", "xz", "wz"}, {"sums"});
  b.Node("Cast", {"sums"}, {"real"}).Int("to", onnx::TensorProto::FLOAT);
  b.Node("Mul", {"xs", "ws"}, {"scale"});
  b.Node("Mul", {"real", "scale"}, {"y"});
  b.Output("y");
  const Quantized q = Reference(x.values);
  Values expected;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kTerms; ++k) {
        sum += (q.bytes[static_cast<size_t>(i * kTerms + k)] - q.zero) *
               static_cast<double>(
                   weights[static_cast<size_t>(k * kColumns + j)] - 3);
      }
      expected.push_back(static_cast<float>(sum * q.scale * 0.25));
    }
  }
  ExpectNear(RunModel(b, {x}), {kRows, kColumns}, expected);
}

TEST(DynamicQuantizeTest, OnlyF32IsQuantized) {
  ModelBuilder b(11);
  b.Input("x", {3}, onnx::TensorProto::DOUBLE);
  b.Node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  b.Output("y");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("f64")));
}

}  // namespace
}  // namespace tilewright

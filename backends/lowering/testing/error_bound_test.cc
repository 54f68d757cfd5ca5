#include "backends/lowering/testing/error_bound.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::lowering {
namespace {

HostTensor Filled(std::vector<int64_t> shape, double first, double step) {
  HostTensor t(DType::kFloat32, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.Set(i, {first + step * static_cast<double>(i), 0});
  return t;
}

// The values of the one output of a graph of one input.
std::vector<BoundedValue> Evaluate(const std::string& text,
                                   const HostTensor& x) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_THAT(graph, IsOk());
  auto values = EvaluateWithBounds(*graph, {{0, x}});
  EXPECT_THAT(values, IsOk());
  return values->begin()->second;
}

constexpr char kSquares[] =
    "x: f32[2, 64] = placeholder\n"
    "y: f32[2] = compute (i: 2) reduce (k: 64) sum:f32 { x[i, k] * x[i, k] }\n"
    "return y\n";

TEST(ErrorBoundTest, SmallIntegersMustMatchBitForBit) {
  const BoundedValue y = Evaluate(kSquares, Filled({2, 64}, -60, 1))[0];
  EXPECT_EQ(y.error, 0);
  EXPECT_TRUE(Agrees(DType::kFloat32, y, y.value));
  EXPECT_FALSE(
      Agrees(DType::kFloat32, y,
             {std::nextafter(static_cast<float>(y.value.f), 1e9f), 0}));
}

TEST(ErrorBoundTest, RealSumsMayErrByRoundingAndNoMore) {
  const HostTensor x = Filled({2, 64}, 0.123, 0.01);
  const BoundedValue y = Evaluate(kSquares, x)[0];
  float forwards = 0, backwards = 0;
  for (int k = 0; k < 64; ++k) forwards += x.as<float>()[k] * x.as<float>()[k];
  for (int k = 63; k >= 0; --k)
    backwards = std::fma(x.as<float>()[k], x.as<float>()[k], backwards);
  EXPECT_TRUE(Agrees(DType::kFloat32, y, {forwards, 0}));
  EXPECT_TRUE(Agrees(DType::kFloat32, y, {backwards, 0}));
  EXPECT_FALSE(Agrees(DType::kFloat32, y, {y.value.f * (1 + 1e-4), 0}));
  const double without_one_term = y.value.f - std::pow(x.as<float>()[0], 2);
  EXPECT_FALSE(Agrees(DType::kFloat32, y, {without_one_term, 0}));
}

TEST(ErrorBoundTest, NaNAgreesWithNaNOnly) {
  const BoundedValue nan{{std::nan(""), 0}, 0}, one{{1, 0}, 1e-7};
  EXPECT_TRUE(Agrees(DType::kFloat32, nan, {std::nan(""), 0}));
  EXPECT_FALSE(Agrees(DType::kFloat32, nan, {1, 0}));
  EXPECT_FALSE(Agrees(DType::kFloat32, one, {std::nan(""), 0}));
}

TEST(ErrorBoundTest, DecisionsWithinTheErrorAreUnknown) {
  const std::string text =
      "x: f32[3] = placeholder\n"
      "y: f32[3] = compute (i: 3) { floor(exp(x[i])) }\n"
      "return y\n";
  const std::vector<BoundedValue> y =
      Evaluate(text, Filled({3}, 0, 0.5));  // exp(0) is 1 give or take
  EXPECT_TRUE(std::isinf(y[0].error));
  EXPECT_EQ(y[1].error, 0);
  EXPECT_EQ(y[1].value.f, 1);
}

}  // namespace
}  // namespace tilewright::lowering

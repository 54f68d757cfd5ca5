// DFT and STFT beside sums of complex exponentials.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
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
using Complex = std::complex<double>;
using Shape = std::vector<int64_t>;

Given Draw(Random& random, Shape shape) {
  Given given = {std::move(shape), {}};
  int64_t count = 1;
  for (const int64_t extent : given.shape) count *= extent;
  for (int64_t i = 0; i < count; ++i)
    given.values.push_back(static_cast<float>(random.Uniform(-1, 1)));
  return given;
}

// The first `bins` of a transform of `length`, of the terms there are.
std::vector<Complex> Transform(std::vector<Complex> terms, int64_t length,
                               int64_t bins, bool inverse) {
  terms.resize(static_cast<size_t>(length));
  std::vector<Complex> result;
  for (int64_t k = 0; k < bins; ++k) {
    Complex sum = 0;
    for (int64_t j = 0; j < length; ++j) {
      const double angle = (inverse ? 2 : -2) * M_PI *
                           static_cast<double>(j * k) /
                           static_cast<double>(length);
      sum += terms[static_cast<size_t>(j)] * std::polar(1.0, angle);
    }
    result.push_back(inverse ? sum / static_cast<double>(length) : sum);
  }
  return result;
}

struct Dft {
  int64_t axis = 1;
  int64_t length = 0;  // 0: not given
  bool inverse = false, onesided = false;
};

ModelBuilder DftModel(int64_t opset, const Given& x, const Dft& dft) {
  ModelBuilder b(opset);
  b.Input("x", x.shape);
  std::vector<std::string> inputs = {"x", ""};
  if (dft.length > 0) {
    b.Ints("length", {}, {dft.length});
    inputs[1] = "length";
  }
  if (opset >= 20) {
    b.Ints("axis", {}, {dft.axis});
    inputs.push_back("axis");
  }
  NodeBuilder node = b.Node("DFT", inputs, {"y"});
  if (opset < 20) node.Int("axis", dft.axis);
  if (dft.inverse) node.Int("inverse", 1);
  if (dft.onesided) node.Int("onesided", 1);
  b.Output("y");
  return b;
}

// x is [outer, extent, inner, parts] once its axes are joined.
void ExpectDft(int64_t opset, const Given& x, const Dft& dft) {
  const auto rank = static_cast<int64_t>(x.shape.size());
  const int64_t axis = dft.axis < 0 ? dft.axis + rank : dft.axis;
  const int64_t parts = x.shape.back();
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < axis; ++d) outer *= x.shape[static_cast<size_t>(d)];
  for (int64_t d = axis + 1; d < rank - 1; ++d)
    inner *= x.shape[static_cast<size_t>(d)];
  const int64_t extent = x.shape[static_cast<size_t>(axis)];
  const int64_t length = dft.length > 0 ? dft.length : extent;
  const int64_t bins = dft.onesided ? length / 2 + 1 : length;
  Shape shape = x.shape;
  shape[static_cast<size_t>(axis)] = bins;
  shape.back() = 2;
  Values expected(static_cast<size_t>(outer * bins * inner * 2));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<Complex> terms;
      for (int64_t j = 0; j < std::min(extent, length); ++j) {
        const auto at =
            static_cast<size_t>(((o * extent + j) * inner + i) * parts);
        terms.emplace_back(x.values[at], parts == 2 ? x.values[at + 1] : 0);
      }
      const std::vector<Complex> result =
          Transform(terms, length, bins, dft.inverse);
      for (int64_t k = 0; k < bins; ++k) {
        const auto at = static_cast<size_t>(((o * bins + k) * inner + i) * 2);
        expected[at] =
            static_cast<float>(result[static_cast<size_t>(k)].real());
        expected[at + 1] =
            static_cast<float>(result[static_cast<size_t>(k)].imag());
      }
    }
  }
  ModelBuilder b = DftModel(opset, x, dft);
  ExpectNear(RunModel(b, {x}), shape, expected);
}

TEST(DftTest, IsTheSumOfExponentials) {
  Random random(5);
  for (int i = 0; i < 120; ++i) {
    Shape shape;
    const int64_t rank = random.UniformInt(2, 4);
    for (int64_t d = 0; d + 1 < rank; ++d)
      shape.push_back(random.UniformInt(1, 9));
    shape.push_back(random.UniformInt(1, 2));
    Dft dft;
    dft.axis = random.UniformInt(0, rank - 2);
    if (random.Bernoulli(0.3)) dft.axis -= rank;
    if (random.Bernoulli(0.4)) dft.length = random.UniformInt(1, 12);
    dft.inverse = random.Bernoulli(0.4);
    dft.onesided = shape.back() == 1 && !dft.inverse && random.Bernoulli(0.5);
    SCOPED_TRACE(testing::Message()
                 << "case " << i << ": axis " << dft.axis << " length "
                 << dft.length << (dft.inverse ? " inverse" : "")
                 << (dft.onesided ? " onesided" : ""));
    const Given x = Draw(random, shape);
    ExpectDft(i % 2 == 0 ? 17 : 20, x, dft);
  }
}

TEST(DftTest, AxesThatAreNotGivenDependOnTheOpset) {
  Random random(6);
  const Given x = Draw(random, {2, 3, 4, 1});
  Outcome outcomes[2];
  for (const int64_t opset : {17, 20}) {
    ModelBuilder b(opset);
    b.Input("x", x.shape);
    b.Node("DFT", {"x"}, {"y"});
    b.Output("y");
    ModelBuilder given = DftModel(opset, x, {opset == 17 ? 1 : -2});
    const Outcome outcome = RunModel(b, {x});
    ExpectNear(outcome, {2, 3, 4, 2}, RunModel(given, {x}).values);
    outcomes[opset == 20] = outcome;
  }
  EXPECT_NE(outcomes[0].values, outcomes[1].values);
}

// A cosine of three turns is half a one in bins 3 and -3, and exactly nothing
// in bins that only rounded angles would reach.
TEST(DftTest, WholeTurnsOfAnAlternatingSignalCancel) {
  Given x = {{1, 16, 1}, {}};
  for (int64_t j = 0; j < 16; ++j)
    x.values.push_back(j % 4 == 0 ? 1 : j % 4 == 2 ? -1 : 0);
  Values expected(32, 0);
  expected[8] = expected[24] = 8;
  ModelBuilder b = DftModel(20, x, {1});
  const Outcome outcome = RunModel(b, {x});
  EXPECT_EQ(outcome.values, expected);
}

struct Stft {
  int64_t step = 1, length = 0, window = 0;  // 0: not given
  bool constant_window = true;
  int64_t onesided = -1;  // -1: not given
};

ModelBuilder StftModel(const Shape& signal, const Given& window,
                       const Stft& stft) {
  ModelBuilder b(17);
  b.Input("x", signal).Ints("step", {}, {stft.step});
  std::vector<std::string> inputs = {"x", "step", "", ""};
  if (stft.window > 0) {
    if (stft.constant_window) {
      b.Floats("window", window.shape, window.values);
    } else {
      b.Input("window", window.shape);
    }
    inputs[2] = "window";
  }
  if (stft.length > 0) {
    b.Ints("length", {}, {stft.length});
    inputs[3] = "length";
  }
  NodeBuilder node = b.Node("STFT", inputs, {"y"});
  if (stft.onesided >= 0) node.Int("onesided", stft.onesided);
  b.Output("y");
  return b;
}

TEST(StftTest, IsTheTransformOfEachFrameTimesTheWindow) {
  Random random(7);
  for (int i = 0; i < 120; ++i) {
    const int64_t batch = random.UniformInt(1, 2);
    const int64_t samples = random.UniformInt(6, 30);
    const int64_t length = random.UniformInt(1, std::min<int64_t>(samples, 9));
    const int64_t parts = random.UniformInt(1, 2);
    Stft stft;
    stft.step = random.UniformInt(1, 7);
    if (i % 3 != 0) stft.window = length;
    if (i % 3 != 1) stft.length = length;
    stft.constant_window = random.Bernoulli(0.5);
    stft.onesided = parts == 2 ? 0 : random.UniformInt(-1, 1);
    const Given x = Draw(random, {batch, samples, parts});
    const Given window = Draw(random, {length});
    const int64_t frames = (samples - length) / stft.step + 1;
    const int64_t bins = stft.onesided == 0 ? length : length / 2 + 1;
    Values expected;
    for (int64_t a = 0; a < batch; ++a) {
      for (int64_t f = 0; f < frames; ++f) {
        std::vector<Complex> terms;
        for (int64_t j = 0; j < length; ++j) {
          const auto at =
              static_cast<size_t>((a * samples + f * stft.step + j) * parts);
          const double factor =
              stft.window > 0 ? window.values[static_cast<size_t>(j)] : 1;
          terms.push_back(factor * Complex(x.values[at],
                                           parts == 2 ? x.values[at + 1] : 0));
        }
        for (const Complex& bin : Transform(terms, length, bins, false)) {
          expected.push_back(static_cast<float>(bin.real()));
          expected.push_back(static_cast<float>(bin.imag()));
        }
      }
    }
    SCOPED_TRACE(testing::Message()
                 << "case " << i << ": step " << stft.step << " length "
                 << length << " onesided " << stft.onesided);
    ModelBuilder b = StftModel(x.shape, window, stft);
    std::vector<Given> inputs = {x};
    if (stft.window > 0 && !stft.constant_window) inputs.push_back(window);
    ExpectNear(RunModel(b, inputs), {batch, frames, bins, 2}, expected);
  }
}

absl::Status ImportOf(ModelBuilder b) {
  return ImportModelProto(b.model()).status();
}

absl::Status DftStatus(const Shape& shape, const Dft& dft) {
  return ImportOf(DftModel(17, {shape, {}}, dft));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(DftTest, ShapesAndAttributesThatContradictAreErrors) {
  EXPECT_THAT(DftStatus({2, 8, 3}, {}),
              StatusIs(kInvalid, HasSubstr("neither 1, for real, nor 2")));
  EXPECT_THAT(DftStatus({2, 8, 1}, {2}),
              StatusIs(kInvalid, HasSubstr("parts of complex numbers")));
  EXPECT_THAT(DftStatus({2, 8, 1}, {-1}),
              StatusIs(kInvalid, HasSubstr("parts of complex numbers")));
  EXPECT_THAT(DftStatus({2, 8, 1}, {3}),
              StatusIs(kInvalid, HasSubstr("axis 3 is outside")));
  EXPECT_THAT(DftStatus({8}, {0}),
              StatusIs(kInvalid, HasSubstr("at least 2 dimensions")));
  EXPECT_THAT(DftStatus({2, 8, 2}, {1, 0, false, true}),
              StatusIs(kInvalid, HasSubstr("are complex")));
}

TEST(DftTest, WhatIsNotSupportedSaysSo) {
  EXPECT_THAT(DftStatus({2, 8, 1}, {1, 0, true, true}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("inverse onesided")));
  EXPECT_THAT(DftStatus({1, 16384, 1}, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("a transform from 16384 to 16384 numbers")));
  ModelBuilder b(17);
  b.Input("x", {1, 8, 1}).Input("length", {}, onnx::TensorProto::INT64);
  b.Node("DFT", {"x", "length"}, {"y"});
  b.Output("y");
  EXPECT_THAT(ImportOf(b), StatusIs(absl::StatusCode::kUnimplemented,
                                    HasSubstr("known when compiling")));
}

absl::Status StftStatus(const Shape& signal, const Stft& stft) {
  return ImportOf(StftModel(
      signal, {{stft.window}, Values(static_cast<size_t>(stft.window), 1)},
      stft));
}

TEST(StftTest, ShapesAndAttributesThatContradictAreErrors) {
  EXPECT_THAT(StftStatus({1, 16}, {1, 4}),
              StatusIs(kInvalid, HasSubstr("[batch, samples, 1]")));
  EXPECT_THAT(StftStatus({1, 16, 3}, {1, 4}),
              StatusIs(kInvalid, HasSubstr("[batch, samples, 1]")));
  EXPECT_THAT(StftStatus({1, 16, 1}, {}),
              StatusIs(kInvalid, HasSubstr("neither a window nor")));
  EXPECT_THAT(StftStatus({1, 16, 1}, {1, 4, 5}),
              StatusIs(kInvalid, HasSubstr("a window of shape [5]")));
  EXPECT_THAT(StftStatus({1, 16, 1}, {1, 17}),
              StatusIs(kInvalid, HasSubstr("frame_length is [17]")));
  EXPECT_THAT(StftStatus({1, 16, 1}, {0, 4}),
              StatusIs(kInvalid, HasSubstr("frame_step is [0]")));
  EXPECT_THAT(StftStatus({1, 16, 2}, {1, 4}),
              StatusIs(kInvalid, HasSubstr("is complex")));
}

}  // namespace
}  // namespace tilewright

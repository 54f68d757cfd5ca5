// Rounding errors of F(m, 3) beside those of the convolution itself, on drawn
// data and on data that the transforms amplify. Prints them as a table:
//
//   bazelw test //tilegraph/rewrite:winograd_errors_test --test_output=all
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/rewrite/winograd_transforms.h"

namespace tilewright {
namespace {

using Matrix = WinogradTransforms::Matrix;

constexpr size_t kExtent = 12;  // of the output: whole tiles of 2, 4 and 6
constexpr size_t kData = kExtent + 2;

struct Convolution {
  size_t channels;
  std::vector<float> data, weights;

  float At(size_t c, size_t y, size_t x) const {
    return data[(c * kData + y) * kData + x];
  }
  const float* Filter(size_t c) const { return &weights[c * 9]; }
};

// "normal", "positive" (without those below zero), "offset" (mean 10, filters
// that sum up to 0), or "signs": of the row of B^T that amplifies most.
Convolution Draw(const std::string& kind, size_t channels, const Matrix& input,
                 Random& random) {
  const size_t m = input.size() - 2;
  const auto amplification = [](const std::vector<double>& row) {
    double sum = 0;
    for (const double x : row) sum += std::fabs(x);
    return sum;
  };
  const std::vector<double>& worst = *std::max_element(
      input.begin(), input.end(), [&](const auto& a, const auto& b) {
        return amplification(a) < amplification(b);
      });
  Convolution result{channels, {}, {}};
  for (size_t c = 0; c < channels; ++c) {
    for (size_t y = 0; y < kData; ++y) {
      for (size_t x = 0; x < kData; ++x) {
        double value = random.Normal();
        if (kind == "positive") value = std::max(value, 0.0);
        if (kind == "offset") value += 10;
        if (kind == "signs") {
          const bool minus = (worst[y % m] < 0) != (worst[x % m] < 0);
          value = (minus ? -1 : 1) * (1 + 0.1 * value);
        }
        result.data.push_back(static_cast<float>(value));
      }
    }
    double filter[9], mean = 0;
    for (double& w : filter) {
      w = random.Normal() / std::sqrt(9.0 * static_cast<double>(channels));
      mean += w / 9;
    }
    for (const double w : filter)
      result.weights.push_back(
          static_cast<float>(kind == "offset" ? w - mean : w));
  }
  return result;
}

// One output in float64: its value, and the sum of the terms' magnitudes.
struct Exact {
  double value = 0, magnitude = 0;
};
Exact ExactAt(const Convolution& convolution, size_t y, size_t x) {
  Exact exact;
  for (size_t c = 0; c < convolution.channels; ++c) {
    for (size_t i = 0; i < 9; ++i) {
      const double term =
          static_cast<double>(convolution.At(c, y + i / 3, x + i % 3)) *
          static_cast<double>(convolution.Filter(c)[i]);
      exact.value += term;
      exact.magnitude += std::fabs(term);
    }
  }
  return exact;
}

float DirectAt(const Convolution& convolution, size_t y, size_t x) {
  float sum = 0;
  for (size_t c = 0; c < convolution.channels; ++c) {
    for (size_t i = 0; i < 9; ++i)
      sum = std::fma(convolution.At(c, y + i / 3, x + i % 3),
                     convolution.Filter(c)[i], sum);
  }
  return sum;
}

// matrix * values * matrix^T, values square.
template <typename T>
std::vector<T> Transformed(const Matrix& matrix, const std::vector<T>& values) {
  const size_t rows = matrix.size(), n = matrix[0].size();
  std::vector<T> half(rows * n), all(rows * rows);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t x = 0; x < n; ++x) {
      for (size_t y = 0; y < n; ++y)
        half[i * n + x] = std::fma(static_cast<T>(matrix[i][y]),
                                   values[y * n + x], half[i * n + x]);
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < rows; ++j) {
      for (size_t x = 0; x < n; ++x)
        all[i * rows + j] = std::fma(static_cast<T>(matrix[j][x]),
                                     half[i * n + x], all[i * rows + j]);
    }
  }
  return all;
}

// The tile of outputs at (y, x).
std::vector<float> TileAt(const Convolution& convolution,
                          const WinogradTransforms& transforms, size_t y,
                          size_t x) {
  const size_t t = transforms.input.size();
  std::vector<float> sums(t * t);
  for (size_t c = 0; c < convolution.channels; ++c) {
    std::vector<float> data;
    for (size_t i = 0; i < t * t; ++i)
      data.push_back(convolution.At(c, y + i / t, x + i % t));
    const float* const filter = convolution.Filter(c);
    const std::vector<double> u = Transformed<double>(
        transforms.filter, std::vector<double>(filter, filter + 9));
    const std::vector<float> v = Transformed(transforms.input, data);
    for (size_t i = 0; i < t * t; ++i)
      sums[i] = std::fma(static_cast<float>(u[i]), v[i], sums[i]);
  }
  return Transformed(transforms.output, sums);
}

// Errors of outputs, in units of u = 2^-24 times their sums of magnitudes.
struct Errors {
  double largest = 0, squares = 0;
  int count = 0;

  double Rms() const { return std::sqrt(squares / count); }
};

// Adds those of F(m, 3), of the direct form without points.
void AddErrors(const Convolution& convolution,
               const std::vector<double>& points, Errors& errors) {
  const size_t m = points.empty() ? 1 : points.size() - 1;
  const WinogradTransforms transforms =
      points.empty() ? WinogradTransforms() : ToomCook(points);
  for (size_t y = 0; y < kExtent; y += m) {
    for (size_t x = 0; x < kExtent; x += m) {
      const std::vector<float> tile =
          points.empty() ? std::vector<float>{DirectAt(convolution, y, x)}
                         : TileAt(convolution, transforms, y, x);
      for (size_t i = 0; i < m * m; ++i) {
        const Exact exact = ExactAt(convolution, y + i / m, x + i % m);
        const double error =
            std::fabs(static_cast<double>(tile[i]) - exact.value) /
            (std::ldexp(1, -24) * exact.magnitude);
        errors.largest = std::max(errors.largest, error);
        errors.squares += error * error;
        ++errors.count;
      }
    }
  }
}

TEST(WinogradErrorsTest, PointsOfSmallErrors) {
  struct Form {
    const char* name;
    std::vector<double> points;
  };
  const std::vector<Form> forms = {
      {"direct", {}},
      {"F(2, 3)", {0, 1, -1}},
      {"F(4, 3)", {0, 0.75, -0.75, 1.5, -1.5}},
      {"F(4, 3), 1 and 2", {0, 1, -1, 2, -2}},
      {"F(6, 3), 1/2, 1 and 2", {0, 1, -1, 2, -2, 0.5, -0.5}},
  };
  EXPECT_EQ(WinogradTransformsOf(2).input, ToomCook(forms[1].points).input);
  EXPECT_EQ(WinogradTransformsOf(4).input, ToomCook(forms[2].points).input);
  std::printf("| data | channels |");
  for (const Form& form : forms) std::printf(" %s |", form.name);
  std::printf("\n");
  for (const char* kind : {"normal", "positive", "offset", "signs"}) {
    for (const size_t channels : {size_t{64}, size_t{512}}) {
      std::printf("| %s | %zu |", kind, channels);
      std::vector<Errors> errors;
      for (const Form& form : forms) {
        // All forms on the same data, but signs are those of each form.
        Random random(channels);
        const Matrix input = form.points.empty() ? WinogradTransformsOf(4).input
                                                 : ToomCook(form.points).input;
        Errors& of_form = errors.emplace_back();
        for (int draw = 0; draw < 8; ++draw)
          AddErrors(Draw(kind, channels, input, random), form.points, of_form);
        std::printf(" %.2f, %.1f |", of_form.Rms(), of_form.largest);
      }
      std::printf("\n");
      const Errors &small = errors[1], &large = errors[2], &usual = errors[3];
      EXPECT_LT(small.Rms(), 0.6);
      EXPECT_LT(large.Rms(), 2);
      EXPECT_LT(large.largest, 16);
      if (kind != std::string("signs")) {
        EXPECT_LT(large.Rms(), usual.Rms() / 1.6);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright

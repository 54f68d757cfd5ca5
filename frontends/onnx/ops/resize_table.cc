#include "frontends/onnx/ops/resize_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tilewright {
namespace {

// Where output position `o` lies in the input, or out of it.
double CropSource(const ResizeSpec& spec, int d, int64_t input, int64_t o) {
  const ResizeSpec::Crop& crop = spec.crop[d];
  const int64_t last = spec.shape[d] - 1;
  const double share =
      last == 0 ? 0.5 : static_cast<double>(o) / static_cast<double>(last);
  return (crop.first + share * (crop.last - crop.first)) *
         static_cast<double>(input - 1);
}

// Where output position `o` of dimension `d` lies in the input, of `input`
// positions.
double Source(const ResizeSpec& spec, int d, int64_t input, int64_t o) {
  const double scale = spec.scale[d];
  const int64_t output = spec.shape[d];
  const double x = static_cast<double>(o);
  const double half_pixel = (x + 0.5) / scale - 0.5;
  const double in = static_cast<double>(input);
  const double out = static_cast<double>(output);
  if (spec.Crops())
    return std::clamp<double>(CropSource(spec, d, input, o), 0, in - 1);
  if (spec.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (spec.coordinates == "asymmetric") return x / scale;
  if (spec.coordinates == "align_corners") {
    // As ONNX's reference, with the length before it is rounded down.
    return in * scale == 1 ? 0 : x * (in - 1) / (in * scale - 1);
  }
  if (spec.coordinates == "pytorch_half_pixel") {
    return output == 1 ? 0 : half_pixel;
  }
  if (spec.coordinates == "half_pixel_symmetric") {
    return in / 2 * (1 - out / (in * scale)) + half_pixel;
  }
  return half_pixel;
}

int64_t Nearest(const ResizeSpec& spec, double x, int64_t input) {
  double at = std::floor(x);
  if (spec.rounding == "ceil") {
    at = std::ceil(x);
  } else if (spec.rounding == "round_prefer_floor") {
    at = std::ceil(x - 0.5);
  } else if (spec.rounding == "round_prefer_ceil") {
    at = std::floor(x + 0.5);
  }
  return std::clamp<int64_t>(static_cast<int64_t>(at), 0, input - 1);
}

double CubicWeight(double a, double distance) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

int64_t NearestPosition(const ResizeSpec& spec, int d, int64_t input,
                        int64_t o) {
  return Nearest(spec, Source(spec, d, input, o), input);
}

OutputRange OutputsInside(const ResizeSpec& spec, int d, int64_t input) {
  OutputRange range = {0, spec.shape[d]};
  if (!spec.Crops()) return range;
  const auto is_inside = [&](int64_t o) {
    const double x = CropSource(spec, d, input, o);
    return x >= 0 && x <= static_cast<double>(input - 1);
  };
  while (range.first < range.end && !is_inside(range.first)) ++range.first;
  while (range.first < range.end && !is_inside(range.end - 1)) --range.end;
  return range;
}

ResizeTable TableOf(const ResizeSpec& spec, int d, int64_t input) {
  const int64_t output = spec.shape[d];
  const double scale = spec.scale[d];
  const double shrink = spec.antialias ? std::min(scale, 1.0) : 1;
  const double reach = spec.mode == ResizeMode::kCubic ? 2 : 1;
  const int64_t start = static_cast<int64_t>(std::floor(-reach / shrink)) + 1;
  ResizeTable table;
  table.taps = static_cast<int64_t>(2 * (1 - start));
  for (int64_t o = 0; o < output; ++o) {
    const double x = Source(spec, d, input, o);
    const double base = std::ceil(x) - 1;
    table.first.push_back(static_cast<int64_t>(base) + start);
    std::vector<double> weight;
    double sum = 0;
    for (int64_t k = 0; k < table.taps; ++k) {
      const double at = base + static_cast<double>(start + k);
      const double distance = (at - x) * shrink;
      double w = spec.mode == ResizeMode::kCubic
                     ? CubicWeight(spec.cubic_a, distance)
                     : std::max(0.0, 1 - std::abs(distance));
      if (spec.exclude_outside &&
          (at < 0 || at >= static_cast<double>(input))) {
        w = 0;
      }
      weight.push_back(w);
      sum += w;
    }
    for (const double w : weight) {
      table.weight.push_back(sum == 0 ? 0 : w / sum);
    }
  }
  return table;
}

std::optional<RegularSteps> FindSteps(absl::Span<const int64_t> positions) {
  const auto last = static_cast<int64_t>(positions.size()) - 1;
  const int64_t rise = positions[last] - positions[0];
  if (rise < 0) return std::nullopt;
  for (const int64_t divisor : {1, 2, 4, 8, 16}) {
    // Rounding down hides less than one step.
    const int64_t between = std::max<int64_t>(1, last);
    const int64_t least = std::max<int64_t>(0, divisor * (rise - 1) / between);
    const int64_t most = divisor * (rise + 1) / between;
    for (int64_t multiplier = least; multiplier <= most; ++multiplier) {
      int64_t low = std::numeric_limits<int64_t>::min();
      int64_t high = std::numeric_limits<int64_t>::max();
      for (int64_t o = 0; o <= last && low <= high; ++o) {
        const int64_t offset = positions[o] * divisor - multiplier * o;
        low = std::max(low, offset);
        high = std::min(high, offset + divisor - 1);
      }
      if (low <= high) return RegularSteps{multiplier, low, divisor};
    }
  }
  return std::nullopt;
}

bool MoveWeightsInside(ResizeTable& table, int64_t input) {
  for (const int64_t first : table.first) {
    if (first + table.taps <= 0 || first >= input) return false;
  }
  for (size_t o = 0; o < table.first.size(); ++o) {
    double* const weight = &table.weight[o * table.taps];
    const int64_t border = -table.first[o], behind = border + input;
    for (int64_t k = 0; k < border; ++k)
      weight[border] += std::exchange(weight[k], 0);
    for (int64_t k = behind; k < table.taps; ++k)
      weight[behind - 1] += std::exchange(weight[k], 0);
  }
  return true;
}

}  // namespace tilewright

#include "frontends/onnx/ops/signal/fourier_matrix.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/onnx/ops/signal/known.h"

namespace tilewright {

UnitRoot RootOfUnity(int64_t m, int64_t n) {
  const int64_t quarter = 4 * m / n;
  // The angle behind the last quarter of a turn, of n parts of one, and from
  // the nearer of the two quarters beside it.
  const int64_t rest = 4 * m - quarter * n;
  const bool mirrored = 2 * rest > n;
  const double angle = M_PI_2 *
                       static_cast<double>(mirrored ? n - rest : rest) /
                       static_cast<double>(n);
  double x = std::cos(angle), y = std::sin(angle);
  if (2 * rest == n) x = y = M_SQRT1_2;
  if (mirrored) std::swap(x, y);
  switch (quarter) {
    case 0:
      return {x, y};
    case 1:
      return {-y, x};
    case 2:
      return {-x, -y};
    default:
      return {y, -x};
  }
}

absl::Status CheckFourier(const OpContext& op, const FourierSpec& spec) {
  const double numbers = 2.0 * static_cast<double>(spec.terms) *
                         static_cast<double>(spec.parts) *
                         static_cast<double>(spec.bins);
  if (numbers <= static_cast<double>(kMostNumbers)) return absl::OkStatus();
  return op.Unsupported("a transform from ", spec.terms, " to ", spec.bins,
                        " numbers");
}

absl::StatusOr<HostTensor> FourierMatrix(const OpContext& op,
                                         const FourierSpec& spec, DType dtype,
                                         const HostTensor* window) {
  TW_ASSIGN_OR_RETURN(
      HostTensor matrix,
      op.NewTensor(dtype, {spec.terms, spec.parts, 2 * spec.bins}));
  std::vector<UnitRoot> roots;
  for (int64_t m = 0; m < spec.length; ++m)
    roots.push_back(RootOfUnity(m, spec.length));
  int64_t at = 0;
  for (int64_t term = 0; term < spec.terms; ++term) {
    double factor = window == nullptr ? 1 : window->Get(term).f;
    if (spec.inverse) factor /= static_cast<double>(spec.length);
    for (int64_t part = 0; part < spec.parts; ++part) {
      for (int64_t bin = 0; bin < spec.bins; ++bin) {
        const UnitRoot& root =
            roots[static_cast<size_t>(term * bin % spec.length)];
        const double sin = spec.inverse ? root.sin : -root.sin;
        // An imaginary part counts i times as much as a real one.
        const double real = part == 0 ? root.cos : -sin;
        const double imaginary = part == 0 ? sin : root.cos;
        matrix.Set(at++, Scalar{factor * real, 0});
        matrix.Set(at++, Scalar{factor * imaginary, 0});
      }
    }
  }
  return matrix;
}

}  // namespace tilewright

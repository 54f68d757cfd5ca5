// The matrix of the discrete Fourier transform. A transform is a product with
// it: more operations than the fast transform has, but all of them in one
// contraction, which takes windows and frames in.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_FOURIER_MATRIX_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_FOURIER_MATRIX_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// Lengths of transforms and windows.
constexpr int64_t kLongestSignal = int64_t{1} << 21;

// e^(2 pi i m / n).
struct UnitRoot {
  double cos = 1;
  double sin = 0;
};
// Of an angle that is reduced to an eighth of a turn as integers, so that roots
// that are opposite, conjugate or a quarter of a turn apart have the same
// digits.
// REQUIRES: 0 <= m < n <= kLongestSignal.
UnitRoot RootOfUnity(int64_t m, int64_t n);

struct FourierSpec {
  int64_t length = 1;  // of the transform
  int64_t terms = 1;   // the first of `length`; those behind them are 0
  int64_t bins = 1;    // the first of `length` that are computed
  int64_t parts = 1;   // of a term: 1 if it is real, 2 if it is complex
  bool inverse = false;
};

// Unimplemented if the matrix has more than kMostNumbers.
absl::Status CheckFourier(const OpContext& op, const FourierSpec& spec);

// [terms, parts, 2 * bins]: the real part of a bin, and behind it the imaginary
// one, are sums over terms and their parts, each times its number here. The
// inverse divides by `length`. `window`, if not null, has a factor for each
// term. Computed in double, then rounded to `dtype`.
// REQUIRES: CheckFourier(op, spec).
absl::StatusOr<HostTensor> FourierMatrix(const OpContext& op,
                                         const FourierSpec& spec, DType dtype,
                                         const HostTensor* window = nullptr);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_FOURIER_MATRIX_H_

#include "tilegraph/reference/verify_output.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tilegraph/expr/scalar_bytes.h"
#include "tilegraph/ir/physical.h"

namespace tilewright {
namespace {

// Half the distance of the smallest numbers: what underflow may take away, in a
// few operations.
double Smallest(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-24;
    case DType::kFloat64:
      return 0;
    default:
      return 0x1p-148;
  }
}

// Largest finite value: beyond it, infinity is right.
double Largest(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

std::string Index(absl::Span<const int64_t> shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

class OutputVerifier {
 public:
  OutputVerifier(const ReferenceView& expected, const char* data, double factor,
                 bool zero_signs_free, double underflow)
      : expected_(expected),
        data_(data),
        factor_(factor),
        zero_signs_free_(zero_signs_free),
        underflow_(underflow) {}

  void VerifyFloat(int64_t position, int64_t offset) {
    const double r = expected_.value[position],
                 e = expected_.bound.empty() ? 0 : expected_.bound[position];
    const double y = Read(offset).f;
    if (e == 0) {
      const double rounded = RoundTo(expected_.dtype, Scalar{r, 0}).f;
      const bool equal =
          std::isnan(r) ? std::isnan(y)
                        : y == rounded && (zero_signs_free_ || y != 0 ||
                                           std::signbit(y) == std::signbit(r));
      const bool flushed = underflow_ > 0 && std::fabs(y - r) <= underflow_;
      if (!equal && !flushed) Reject(position, y, r, 0);
      return;
    }
    if (!std::isfinite(e)) return;
    if (std::isnan(r) ? std::isnan(y) : y == r) return;
    const double error = std::fabs(y - r);
    const double allowed = factor_ * e + Smallest(expected_.dtype) + underflow_;
    // Too large for the dtype, or nearly: infinity is a correctly rounded
    // answer.
    if (std::isinf(y) && std::fabs(r) + allowed > Largest(expected_.dtype) &&
        std::signbit(y) == std::signbit(r))
      return;
    if (!(error <= allowed)) Reject(position, y, r, e);
    const double share = factor_ * error / allowed;
    if (share > result_.largest_error && std::isfinite(share))
      result_.largest_error = share;
  }

  void VerifyInteger(int64_t position, int64_t offset) {
    const double e = expected_.bound.empty() ? 0 : expected_.bound[position];
    const int64_t y = Read(offset).i, r = expected_.integer[position];
    if (std::isfinite(e) && y != r &&
        !(std::fabs(static_cast<double>(y) - static_cast<double>(r)) <=
          factor_ * e)) {
      Reject(position, static_cast<double>(y), static_cast<double>(r), e);
    }
  }

  OutputVerdict Take() {
    if (wrong_ > 1)
      absl::StrAppend(&result_.reason, "; ", wrong_, " elements are wrong");
    return std::move(result_);
  }

 private:
  Scalar Read(int64_t offset) const {
    // Bytes of bool that are neither 0 nor 1 are wrong.
    const DType dtype =
        expected_.dtype == DType::kBool ? DType::kUInt8 : expected_.dtype;
    return ReadScalar(dtype, data_ + offset * SizeBytes(dtype));
  }

  void Reject(int64_t position, double y, double r, double e) {
    if (wrong_++ > 0) return;
    result_.reason = absl::StrFormat("%s is %.9g, expected %.9g",
                                     Index(expected_.shape, position), y, r);
    if (e > 0)
      absl::StrAppendFormat(&result_.reason, " within %.3g", factor_ * e);
  }

  const ReferenceView expected_;
  const char* const data_;
  const double factor_;
  const bool zero_signs_free_;
  const double underflow_;
  int64_t wrong_ = 0;
  OutputVerdict result_;
};

}  // namespace

OutputVerdict VerifyOutput(const ReferenceView& expected, const Layout& layout,
                           const char* data, double bound_factor,
                           bool zero_signs_free, double underflow) {
  OutputVerifier verify(expected, data, bound_factor, zero_signs_free,
                        underflow);
  const PhysicalOffsets offsets(layout);
  if (IsFloat(expected.dtype)) {
    offsets.ForEach([&](int64_t position, int64_t offset) {
      verify.VerifyFloat(position, offset);
    });
  } else {
    offsets.ForEach([&](int64_t position, int64_t offset) {
      verify.VerifyInteger(position, offset);
    });
  }
  return verify.Take();
}

}  // namespace tilewright

#include "tilegraph/traffic/transactions.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// Transactions that `bytes` touch, on average over starts at the multiples of
// `grain`, which divides `transaction`.
double MeanTransactions(int64_t bytes, int64_t grain, int64_t transaction) {
  const int64_t starts = transaction / grain;
  const int64_t whole = (bytes - 1) / transaction;
  const int64_t rest = bytes - whole * transaction;  // in [1, transaction]
  const int64_t into_next = starts - 1 - (transaction - rest) / grain;
  return static_cast<double>(starts * (whole + 1) + into_next) /
         static_cast<double>(starts);
}

}  // namespace

Rounding TransactionRounding(const TileBox& box,
                             const std::vector<int64_t>& shape,
                             const Layout& layout, int64_t element_bytes,
                             int64_t transaction_bytes) {
  const int digits = static_cast<int>(layout.digits().size());
  Rounding rounding(std::max(1, digits), 1.0);
  if (transaction_bytes <= 1) return rounding;
  // For each digit: how many of its values are covered, how far apart, and of
  // how many elements starts of regions are multiples.
  absl::InlinedVector<int64_t, 6> covered(digits), apart(digits),
      starts(digits);
  for (int i = 0; i < digits; ++i) {
    const Layout::Digit& digit = layout.digits()[i];
    const TileSpan& dim = box[digit.dim];
    const int64_t stride = layout.stride(i);
    const int64_t extent = std::min(dim.extent, shape[digit.dim]);
    apart[i] = digit.div == 1 ? std::min(dim.step, digit.extent) : 1;
    covered[i] =
        digit.div == 1
            ? std::min(CeilDiv(digit.extent, apart[i]), extent)
            : std::min(digit.extent,
                       CeilDiv((extent - 1) * dim.step + 1, digit.div));
    const auto start_after = [&](int64_t coefficient) {
      if (coefficient == 0) return;
      starts[i] = std::gcd(
          starts[i],
          std::max<int64_t>(1, std::abs(coefficient) / digit.div) * stride);
    };
    starts[i] =
        (dim.constant + layout.pad_before()[digit.dim]) / digit.div * stride;
    for (const int64_t move : dim.moves) start_after(move);
    for (const auto& [term, coefficient] : dim.others) start_after(coefficient);
  }
  int64_t grain = transaction_bytes;
  for (int i = 0; i < digits; ++i)
    grain = std::gcd(grain, starts[i] * element_bytes);
  // Where digits from `first` on move together.
  const auto with = [&](int first) {
    int64_t elements = 1, span = 1, own_grain = grain;
    int i = digits - 1;
    for (; i >= first; --i) {
      if (covered[i] == 1) continue;
      // Side by side, or with gaps that no transaction fits into.
      const int64_t step = layout.stride(i) * apart[i];
      if ((step - span) * element_bytes >= transaction_bytes) break;
      elements *= covered[i];
      span += (covered[i] - 1) * step;
    }
    for (; i >= 0; --i) {
      if (covered[i] > 1)
        own_grain =
            std::gcd(own_grain, layout.stride(i) * apart[i] * element_bytes);
    }
    const double moved =
        MeanTransactions(span * element_bytes, own_grain, transaction_bytes) *
        static_cast<double>(transaction_bytes);
    return std::min(moved,
                    static_cast<double>(elements * transaction_bytes * 2)) /
           static_cast<double>(elements * element_bytes);
  };
  for (int first = 0; first < digits; ++first) rounding[first] = with(first);
  return rounding;
}

int64_t RunElements(const std::vector<int64_t>& extents,
                    const std::vector<int64_t>& shape, const Layout* layout,
                    int64_t least_gap) {
  int64_t run = 1, span = 1;  // elements of the region, and with its gaps
  // Whether the next digit outwards, so much of it, goes on without such a gap.
  const auto extends = [&](int64_t covered, int64_t stride) {
    if (covered == 1) return true;
    if (stride - span >= least_gap) return false;
    run *= covered;
    span += (covered - 1) * stride;
    return true;
  };
  if (layout == nullptr) {
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
      if (!extends(std::min(extents[d], shape[d]), stride)) break;
    }
    return run;
  }
  for (size_t i = layout->digits().size(); i-- > 0;) {
    const Layout::Digit& digit = layout->digits()[i];
    const int64_t covered =
        std::min(digit.extent, CeilDiv(extents[digit.dim], digit.div));
    if (!extends(covered, layout->stride(static_cast<int>(i)))) break;
  }
  return run;
}

int MovedDigit(const Layout& layout, int dim, int64_t elements) {
  if (elements == 0) return -1;
  for (size_t i = 0; i < layout.digits().size(); ++i) {
    const Layout::Digit& digit = layout.digits()[i];
    if (digit.dim == dim && digit.extent > 1 && digit.div <= std::abs(elements))
      return static_cast<int>(i);
  }
  return static_cast<int>(layout.digits().size()) - 1;
}

}  // namespace tilewright

#include "tilegraph/tiling/transactions.h"

#include <algorithm>
#include <numeric>

namespace tilewright {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

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

double TransactionRounding(const TileBox& box,
                           const std::vector<int64_t>& shape,
                           const Layout& layout, int64_t element_bytes,
                           int64_t transaction_bytes) {
  if (transaction_bytes <= 1) return 1;
  int64_t run = 1, span = 1;
  // Starts of runs are multiples of this many elements.
  int64_t starts = 0;
  bool ended = false;
  for (size_t i = layout.digits().size(); i-- > 0;) {
    const Layout::Digit& digit = layout.digits()[i];
    const TileSpan& dim = box[digit.dim];
    const int64_t stride = layout.stride(static_cast<int>(i));
    const int64_t before = layout.pad_before()[digit.dim];
    const auto may_start_after = [&](int64_t coefficient) {
      if (coefficient == 0) return;
      starts = std::gcd(starts,
                        std::max<int64_t>(1, coefficient / digit.div) * stride);
    };
    starts = std::gcd(starts, (dim.constant + before) / digit.div * stride);
    for (const int64_t move : dim.moves) may_start_after(move);
    for (const auto& [term, coefficient] : dim.others)
      may_start_after(coefficient);
    const int64_t extent = std::min(dim.extent, shape[digit.dim]);
    const int64_t reach = (extent - 1) * dim.step + 1;
    const int64_t covered = std::min(digit.extent, CeilDiv(reach, digit.div));
    if (ended || (stride > span && digit.extent > 1)) {
      ended = true;
      if (covered > 1) starts = std::gcd(starts, stride);
      continue;
    }
    run *= CeilDiv(covered, digit.div == 1 ? dim.step : 1);
    span *= covered;
    ended = covered < digit.extent;
  }
  const int64_t grain = std::gcd(starts * element_bytes, transaction_bytes);
  const double moved =
      MeanTransactions(span * element_bytes, grain, transaction_bytes) *
      static_cast<double>(transaction_bytes);
  const double most = static_cast<double>(run * transaction_bytes * 2);
  return std::min(moved, most) / static_cast<double>(run * element_bytes);
}

}  // namespace tilewright

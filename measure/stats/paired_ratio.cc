#include "measure/stats/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "measure/stats/median.h"

namespace tilewright::measure {
namespace {

constexpr double kMostDoubt = 0.05;

// The largest number k of values that may be left out at either end such that
// those left hold the median but in kMostDoubt of the cases: of n fair coins at
// most k - 1 heads, on both sides. -1: not even all of them do.
int LeftOut(int n) {
  double ways = 1;  // n over i
  double tail = 0;
  const double all = std::ldexp(1.0, n);
  int k = -1;
  for (int i = 0; i <= n / 2; ++i) {
    tail += ways / all;
    if (2 * tail > kMostDoubt) break;
    k = i;
    ways = ways * (n - i) / (i + 1);
  }
  return k;
}

}  // namespace

absl::StatusOr<PairedRatio> CompareRounds(absl::Span<const double> a_ns,
                                          absl::Span<const double> b_ns) {
  if (a_ns.empty() || a_ns.size() != b_ns.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rounds to compare: ", a_ns.size(), " and ", b_ns.size()));
  }
  std::vector<double> ratios;
  for (size_t i = 0; i < a_ns.size(); ++i) {
    const double ratio = a_ns[i] / b_ns[i];
    if (!(a_ns[i] > 0) || !(b_ns[i] > 0) || !std::isfinite(ratio)) {
      return absl::InvalidArgumentError(
          absl::StrCat("times of a round: ", a_ns[i], " and ", b_ns[i], " ns"));
    }
    ratios.push_back(ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  PairedRatio result;
  result.rounds = static_cast<int>(ratios.size());
  result.median = Median(ratios);
  const int left_out = LeftOut(result.rounds);
  if (left_out < 0) {
    result.high = std::numeric_limits<double>::infinity();
    return result;
  }
  result.low = ratios[static_cast<size_t>(left_out)];
  result.high = ratios[ratios.size() - 1 - static_cast<size_t>(left_out)];
  return result;
}

}  // namespace tilewright::measure

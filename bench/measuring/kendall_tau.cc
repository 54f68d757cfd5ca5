#include "bench/measuring/kendall_tau.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"

namespace tilewright::bench {
namespace {

int Sign(double x) { return (x > 0) - (x < 0); }

}  // namespace

double KendallTau(absl::Span<const double> a, absl::Span<const double> b,
                  double apart) {
  TW_CHECK_EQ(a.size(), b.size());
  int64_t pairs = 0, agreement = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double x = a[i] - a[j], y = b[i] - b[j];
      if (std::isnan(x) || std::isnan(y)) continue;
      if (apart > 0 &&
          std::max(a[i], a[j]) <= (1 + apart) * std::min(a[i], a[j])) {
        continue;
      }
      ++pairs;
      agreement += Sign(x) * Sign(y);
    }
  }
  if (pairs == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(agreement) / static_cast<double>(pairs);
}

}  // namespace tilewright::bench

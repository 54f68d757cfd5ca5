#include "measure/verify/unbounded_share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tilewright::measure {

double UnboundedShare(const ReferenceTensor& expected, double bound_factor) {
  if (expected.bound.empty()) return 0;
  // Integers differ by one at least.
  double largest = IsFloat(expected.dtype) ? 0 : 1;
  for (const double value : expected.value) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  for (const int64_t value : expected.integer)
    largest = std::max(largest, std::fabs(static_cast<double>(value)));
  const auto unbounded = std::count_if(
      expected.bound.begin(), expected.bound.end(), [&](double bound) {
        return bound != 0 && !(bound_factor * bound < largest);
      });
  return static_cast<double>(unbounded) /
         static_cast<double>(expected.bound.size());
}

}  // namespace tilewright::measure

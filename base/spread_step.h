// A step through numbered things that spreads the first ones over all.
#ifndef TILEWRIGHT_BASE_SPREAD_STEP_H_
#define TILEWRIGHT_BASE_SPREAD_STEP_H_

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tilewright {

// Near the golden section of `count`, and without a common divisor: multiples
// modulo `count` meet each number once before they repeat. REQUIRES: count > 0.
inline int64_t SpreadStep(int64_t count) {
  int64_t step = std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(count) * 0.618));
  while (std::gcd(step, count) > 1) ++step;
  return step;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_SPREAD_STEP_H_

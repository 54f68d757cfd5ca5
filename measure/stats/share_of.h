#ifndef TILEWRIGHT_MEASURE_STATS_SHARE_OF_H_
#define TILEWRIGHT_MEASURE_STATS_SHARE_OF_H_

#include <cmath>

namespace tilewright::measure {

// ceil(share n), safe from the rounding of the share: 0.07 * 100 is a bit
// more than 7 in binary, and is 7 here.
inline int ShareOf(double share, int n) {
  return static_cast<int>(std::ceil(share * n - 1e-9));
}

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_SHARE_OF_H_

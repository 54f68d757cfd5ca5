// Internal to the pool: deadlines on the host's clock.
#ifndef TILEWRIGHT_MEASURE_WORKER_POOL_POOL_TIME_H_
#define TILEWRIGHT_MEASURE_WORKER_POOL_POOL_TIME_H_

#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace tilewright::measure {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

inline int64_t NowNs() { return RealClock()->WallNs(); }
inline int64_t DeadlineNs(double limit_s) {
  return NowNs() + static_cast<int64_t>(limit_s * 1e9);
}

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_POOL_POOL_TIME_H_

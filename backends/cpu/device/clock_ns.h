// The time of one of the system's clocks, in nanoseconds.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_CLOCK_NS_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_CLOCK_NS_H_

#include <time.h>

#include <cstdint>

namespace tilewright::cpu {

inline int64_t ClockNs(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t{1000000000} * t.tv_sec + t.tv_nsec;
}

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_CLOCK_NS_H_

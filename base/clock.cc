#include "base/clock.h"

#include <ctime>

#include "base/check.h"

namespace tilewright {
namespace {

int64_t ReadNs(clockid_t id) {
  timespec time;
  TW_CHECK_EQ(clock_gettime(id, &time), 0);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

class SystemClock : public Clock {
 public:
  int64_t WallNs() override { return ReadNs(CLOCK_MONOTONIC); }
  int64_t ThreadCpuNs() override { return ReadNs(CLOCK_THREAD_CPUTIME_ID); }
  int64_t UnixNs() override { return ReadNs(CLOCK_REALTIME); }
};

}  // namespace

Clock* RealClock() {
  static SystemClock* const clock = new SystemClock();
  return clock;
}

}  // namespace tilewright

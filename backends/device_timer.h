// How long executions on a device take, by one named method: CPU thread time,
// profiler records, device events, the wall clock.
#ifndef TILEWRIGHT_BACKENDS_DEVICE_TIMER_H_
#define TILEWRIGHT_BACKENDS_DEVICE_TIMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"
#include "base/clock.h"

namespace tilewright::backends {

// The work to be timed.
struct TimedWork {
  // One execution: enqueues it on the stream. Called several times per sample.
  std::function<absl::Status()> launch;
  // Called before every sample and no part of its time, whatever it enqueues:
  // drives operands out of the caches. May be empty.
  std::function<absl::Status()> before_sample;
  int launches_per_sample = 1;
};

// Belongs to a device. Not thread-safe.
class Timer {
 public:
  virtual ~Timer() = default;

  virtual TimerMethod method() const = 0;
  // A shorter sample may be wrong by more than a percent: short executions are
  // launched several times per sample. 0 if every execution has a record of its
  // own.
  virtual int64_t shortest_sample_ns() const = 0;

  // `samples` times launches_per_sample executions: of each sample the time of
  // one execution, in ns. All work on the stream has ended when it returns.
  // Errors are those of the work and of the device. REQUIRES: samples and
  // launches_per_sample are positive.
  virtual absl::StatusOr<std::vector<double>> Sample(Stream& stream,
                                                     const TimedWork& work,
                                                     int samples) = 0;
};

// A sample is one Device::TimeNs; the method is the device's. `device` must
// outlive it.
std::unique_ptr<Timer> MakeDeviceTimer(Device* device);

// From before the first launch of a sample until the stream has ended, on the
// host's clock.
std::unique_ptr<Timer> MakeWallClockTimer(Clock* clock = RealClock());

}  // namespace tilewright::backends

#endif  // TILEWRIGHT_BACKENDS_DEVICE_TIMER_H_

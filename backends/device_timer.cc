#include "backends/device_timer.h"

#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::backends {
namespace {

// The error of one reading of a clock, times a hundred.
constexpr int64_t kShortestHostSampleNs = 20000;
constexpr int64_t kShortestEventSampleNs = 100000;

// One sample after the other; `time` runs what it is given and says how long
// that took.
absl::StatusOr<std::vector<double>> SampleEach(
    Stream& stream, const TimedWork& work, int samples,
    const std::function<
        absl::StatusOr<int64_t>(const std::function<absl::Status()>&)>& time) {
  TW_CHECK(samples > 0 && work.launches_per_sample > 0)
      << samples << " samples of " << work.launches_per_sample << " launches";
  TW_RETURN_IF_ERROR(stream.Synchronize());
  std::vector<double> ns;
  for (int i = 0; i < samples; ++i) {
    if (work.before_sample) {
      TW_RETURN_IF_ERROR(work.before_sample());
      TW_RETURN_IF_ERROR(stream.Synchronize());
    }
    TW_ASSIGN_OR_RETURN(const int64_t sample_ns, time([&work] {
                          for (int k = 0; k < work.launches_per_sample; ++k) {
                            TW_RETURN_IF_ERROR(work.launch());
                          }
                          return absl::OkStatus();
                        }));
    ns.push_back(static_cast<double>(sample_ns) / work.launches_per_sample);
  }
  return ns;
}

class DeviceTimer : public Timer {
 public:
  explicit DeviceTimer(Device* device) : device_(device) {}

  TimerMethod method() const override { return device_->timer_method(); }
  int64_t shortest_sample_ns() const override {
    switch (method()) {
      case TimerMethod::kProfilerActivity:
        return 0;
      case TimerMethod::kDeviceEvents:
        return kShortestEventSampleNs;
      case TimerMethod::kThreadCpuTime:
      case TimerMethod::kWallClock:
        break;
    }
    return kShortestHostSampleNs;
  }
  absl::StatusOr<std::vector<double>> Sample(Stream& stream,
                                             const TimedWork& work,
                                             int samples) override {
    return SampleEach(stream, work, samples, [&](const auto& run) {
      return device_->TimeNs(stream, run);
    });
  }

 private:
  Device* device_;
};

class WallClockTimer : public Timer {
 public:
  explicit WallClockTimer(Clock* clock) : clock_(clock) {}

  TimerMethod method() const override { return TimerMethod::kWallClock; }
  int64_t shortest_sample_ns() const override { return kShortestHostSampleNs; }
  absl::StatusOr<std::vector<double>> Sample(Stream& stream,
                                             const TimedWork& work,
                                             int samples) override {
    return SampleEach(stream, work, samples,
                      [&](const auto& run) -> absl::StatusOr<int64_t> {
                        const int64_t start_ns = clock_->WallNs();
                        TW_RETURN_IF_ERROR(run());
                        TW_RETURN_IF_ERROR(stream.Synchronize());
                        return clock_->WallNs() - start_ns;
                      });
  }

 private:
  Clock* clock_;
};

}  // namespace

std::unique_ptr<Timer> MakeDeviceTimer(Device* device) {
  return std::make_unique<DeviceTimer>(device);
}

std::unique_ptr<Timer> MakeWallClockTimer(Clock* clock) {
  return std::make_unique<WallClockTimer>(clock);
}

}  // namespace tilewright::backends

#include "backends/device_timer.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::backends {
namespace {

using ::testing::ElementsAre;

// Work on it takes time when it is synchronized, as on an asynchronous device.
class ScriptedStream : public Stream {
 public:
  explicit ScriptedStream(FakeClock* clock) : clock_(clock) {}
  void Enqueue(int64_t ns) { pending_ns_ += ns; }

  absl::Status Launch(const DeviceKernel&, absl::Span<void* const>, int64_t,
                      int64_t) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::Status Copy(void*, const void*, int64_t) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::Status Fill(void*, int, int64_t) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::Status Synchronize() override {
    clock_->AdvanceIdle(std::exchange(pending_ns_, 0));
    return absl::OkStatus();
  }

 private:
  FakeClock* clock_;
  int64_t pending_ns_ = 0;
};

class ScriptedDevice : public Device {
 public:
  ScriptedDevice(FakeClock* clock, TimerMethod method)
      : clock_(clock), method_(method) {}

  std::string_view name() const override { return "scripted"; }
  const DeviceSpec& spec() const override { return spec_; }
  int num_threads() const override { return 1; }
  bool unified_memory() const override { return false; }
  absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(int64_t) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view, std::string_view) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule&, std::string_view) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    return absl::UnimplementedError("not in this test");
  }
  TimerMethod timer_method() const override { return method_; }
  absl::StatusOr<int64_t> TimeNs(
      Stream& stream, const std::function<absl::Status()>& work) override {
    const int64_t start_ns = clock_->WallNs();
    absl::Status status = work();
    if (!status.ok()) return status;
    status = stream.Synchronize();
    if (!status.ok()) return status;
    return clock_->WallNs() - start_ns;
  }

 private:
  DeviceSpec spec_;
  FakeClock* clock_;
  TimerMethod method_;
};

// Executions that take 100, 101, ... ns, after 5000 ns that are not theirs.
TimedWork GrowingWork(ScriptedStream* stream, int launches_per_sample) {
  TimedWork work;
  work.launch = [stream, next_ns = int64_t{100}]() mutable {
    stream->Enqueue(next_ns++);
    return absl::OkStatus();
  };
  work.before_sample = [stream] {
    stream->Enqueue(5000);
    return absl::OkStatus();
  };
  work.launches_per_sample = launches_per_sample;
  return work;
}

TEST(DeviceTimerTest, SamplesAreOfOneExecutionAndLeaveOutWhatComesBefore) {
  FakeClock clock;
  ScriptedStream stream(&clock);
  ScriptedDevice device(&clock, TimerMethod::kDeviceEvents);
  for (const auto& timer :
       {MakeDeviceTimer(&device), MakeWallClockTimer(&clock)}) {
    EXPECT_THAT(timer->Sample(stream, GrowingWork(&stream, 1), 3),
                IsOkAndHolds(ElementsAre(100, 101, 102)));
    EXPECT_THAT(timer->Sample(stream, GrowingWork(&stream, 2), 3),
                IsOkAndHolds(ElementsAre(100.5, 102.5, 104.5)));
  }
}

TEST(DeviceTimerTest, WorkEnqueuedEarlierIsNotCounted) {
  FakeClock clock;
  ScriptedStream stream(&clock);
  ScriptedDevice device(&clock, TimerMethod::kDeviceEvents);
  for (const auto& timer :
       {MakeDeviceTimer(&device), MakeWallClockTimer(&clock)}) {
    stream.Enqueue(7000);
    TimedWork fresh = GrowingWork(&stream, 1);
    fresh.before_sample = nullptr;
    EXPECT_THAT(timer->Sample(stream, fresh, 2),
                IsOkAndHolds(ElementsAre(100, 101)));
  }
}

TEST(DeviceTimerTest, NamesItsMethod) {
  FakeClock clock;
  ScriptedDevice device(&clock, TimerMethod::kProfilerActivity);
  EXPECT_EQ(MakeDeviceTimer(&device)->method(), TimerMethod::kProfilerActivity);
  EXPECT_EQ(MakeDeviceTimer(&device)->shortest_sample_ns(), 0);
  EXPECT_EQ(MakeWallClockTimer(&clock)->method(), TimerMethod::kWallClock);
  EXPECT_GT(MakeWallClockTimer(&clock)->shortest_sample_ns(), 0);
}

TEST(DeviceTimerTest, ErrorsOfTheWorkEndIt) {
  FakeClock clock;
  ScriptedStream stream(&clock);
  ScriptedDevice device(&clock, TimerMethod::kDeviceEvents);
  for (const bool before : {false, true}) {
    TimedWork work = GrowingWork(&stream, 2);
    (before ? work.before_sample : work.launch) = [] {
      return absl::UnavailableError("sticky");
    };
    for (const auto& timer :
         {MakeDeviceTimer(&device), MakeWallClockTimer(&clock)}) {
      EXPECT_THAT(timer->Sample(stream, work, 3),
                  StatusIs(absl::StatusCode::kUnavailable, "sticky"));
    }
  }
}

}  // namespace
}  // namespace tilewright::backends

// Times by CUPTI's records, against the fake driver.
#include "backends/cuda/device/activity_recorder.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/cuda/device/fake_image.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

using absl::StatusCode;
using backends::TimerMethod;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<CudaDevice>> FakeDevice(
    const std::string& cupti = std::string("./") + kFakeDriver) {
  CudaDeviceOptions options;
  options.driver_library = std::string("./") + kFakeDriver;
  options.cupti_library = cupti;
  return CreateCudaDevice(options);
}

// CUPTI answers once per process: what it refuses is tried in others, which
// exit with 0 if all is as it should be.
int FallsBack(const char* cupti, StatusCode code, const std::string& text) {
  const auto device = cupti == nullptr ? FakeDevice() : FakeDevice(cupti);
  const bool good =
      device.ok() && (*device)->timer_method() == TimerMethod::kDeviceEvents &&
      (*device)->profiler_status().code() == code &&
      std::string((*device)->profiler_status().message()).find(text) !=
          std::string::npos &&
      (*device)->CreateStream().ok();
  if (!good && device.ok()) {
    fprintf(stderr, "%s\n", (*device)->profiler_status().ToString().c_str());
  }
  return good ? 0 : 1;
}

TEST(ActivityRecorderDeathTest, WithoutCuptiEventsTime) {
  EXPECT_EXIT(std::exit(FallsBack("/nowhere/libcupti.so",
                                  StatusCode::kFailedPrecondition,
                                  "/nowhere/libcupti.so")),
              testing::ExitedWithCode(0), "");
}

TEST(ActivityRecorderDeathTest, AnOldCuptiIsNamed) {
  EXPECT_EXIT(
      std::exit(FallsBack("./backends/cuda/device/libold_cuda.so",
                          StatusCode::kFailedPrecondition, "no symbol cupti")),
      testing::ExitedWithCode(0), "");
}

TEST(ActivityRecorderDeathTest, WhereCuptiRefusesEventsTime) {
  EXPECT_EXIT(
      {
        FailNext("cuptiActivityEnable", 35);
        std::exit(FallsBack(nullptr, StatusCode::kUnavailable,
                            "cuptiActivityEnable: a text of the fake"));
      },
      testing::ExitedWithCode(0), "");
}

TEST(ActivityRecorderTest, IsEnabledBeforeTheDriverWakesUp) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  EXPECT_EQ(device->timer_method(), TimerMethod::kProfilerActivity);
  TW_EXPECT_OK(device->profiler_status());
  EXPECT_EQ(CallLog(),
            "cuptiActivityRegisterCallbacks cuptiActivityEnable "
            "cuptiActivityEnable cuptiActivityEnable cuInit "
            "cuDevicePrimaryCtxRetain ");
}

// A stream with a kernel that takes a given time.
struct Sleeper {
  static absl::StatusOr<Sleeper> On(CudaDevice& device, int milliseconds) {
    Sleeper sleeper;
    TW_ASSIGN_OR_RETURN(
        sleeper.module,
        device.LoadModule(FakeImage({{"fake_hang_ms", 1, 1}}), "cuda:sm_90"));
    TW_ASSIGN_OR_RETURN(sleeper.kernel,
                        device.GetKernel(*sleeper.module, "fake_hang_ms"));
    TW_ASSIGN_OR_RETURN(sleeper.stream, device.CreateStream());
    TW_ASSIGN_OR_RETURN(sleeper.buffer, device.Allocate(4));
    TW_RETURN_IF_ERROR(
        sleeper.stream->Copy(sleeper.buffer->address(), &milliseconds, 4));
    TW_RETURN_IF_ERROR(sleeper.stream->Synchronize());
    return sleeper;
  }
  absl::Status Launch() const {
    void* const args[] = {buffer->address()};
    return stream->Launch(*kernel, args, 1, 0);
  }

  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> kernel;
  std::unique_ptr<backends::Stream> stream;
  std::unique_ptr<backends::DeviceBuffer> buffer;
};

TEST(ActivityRecorderTest, CountsWhatRanAndNotWhatTheHostDid) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper sleeper, Sleeper::On(*device, 5));
  // Ran before: not counted.
  for (int i = 0; i < 4; ++i) TW_ASSERT_OK(sleeper.Launch());
  TW_ASSERT_OK_AND_ASSIGN(
      const int64_t ns, device->TimeNs(*sleeper.stream, [&]() -> absl::Status {
        TW_RETURN_IF_ERROR(sleeper.Launch());
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return sleeper.Launch();
      }));
  EXPECT_GE(ns, 10'000'000);
  EXPECT_LT(ns, 300'000'000);
  TW_ASSERT_OK_AND_ASSIGN(
      const int64_t nothing,
      device->TimeNs(*sleeper.stream, [] { return absl::OkStatus(); }));
  EXPECT_EQ(nothing, 0);
}

TEST(ActivityRecorderTest, StreamsDoNotMix) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper quick, Sleeper::On(*device, 1));
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper slow, Sleeper::On(*device, 200));
  absl::StatusOr<int64_t> slow_ns = 0;
  std::thread other([&] {
    slow_ns = device->TimeNs(*slow.stream, [&] { return slow.Launch(); });
  });
  TW_ASSERT_OK_AND_ASSIGN(
      const int64_t quick_ns,
      device->TimeNs(*quick.stream, [&] { return quick.Launch(); }));
  other.join();
  TW_ASSERT_OK(slow_ns);
  EXPECT_GE(quick_ns, 1'000'000);
  EXPECT_GE(*slow_ns, 200'000'000);
}

// Times a launch of 20 ms after `sabotage`, which comes between earlier work
// and it. Events have to take over, for this launch and all later ones, and the
// device says why.
void ExpectEventsTakeOver(const std::function<void()>& sabotage,
                          const std::string& why) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper sleeper, Sleeper::On(*device, 20));
  const auto launch_ns = [&] {
    return device->TimeNs(*sleeper.stream, [&] { return sleeper.Launch(); });
  };
  TW_ASSERT_OK(launch_ns());
  ASSERT_EQ(device->timer_method(), TimerMethod::kProfilerActivity);
  sabotage();
  for (int i = 0; i < 3; ++i) {
    // Nobody sets these off: events have no records.
    if (i == 1) FailNext(kRecordSymbol, kRecordLost);
    TW_ASSERT_OK_AND_ASSIGN(const int64_t ns, launch_ns());
    EXPECT_GE(ns, 20'000'000) << i;
    EXPECT_EQ(device->timer_method(), TimerMethod::kDeviceEvents) << i;
    EXPECT_THAT(
        device->profiler_status(),
        StatusIs(StatusCode::kUnavailable,
                 AllOf(HasSubstr(why), HasSubstr("events time from then on"))));
  }
  // Other streams of the device too.
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper other, Sleeper::On(*device, 20));
  TW_ASSERT_OK_AND_ASSIGN(const int64_t ns, device->TimeNs(*other.stream, [&] {
    return other.Launch();
  }));
  EXPECT_GE(ns, 20'000'000);
}

TEST(ActivityRecorderTest, EventsTakeOverWhereARecordIsLost) {
  ExpectEventsTakeOver([] { FailNext(kRecordSymbol, kRecordLost); },
                       "0 records of 1 activities");
}

TEST(ActivityRecorderTest, EventsTakeOverWhereARecordHasNoTimes) {
  ExpectEventsTakeOver([] { FailNext(kRecordSymbol, kRecordUntimed); },
                       "some without times");
}

TEST(ActivityRecorderTest, EventsTakeOverWhereARecordIsNobodys) {
  ExpectEventsTakeOver([] { FailNext(kRecordSymbol, kRecordTwice); },
                       "2 records of 1 activities");
}

TEST(ActivityRecorderTest, EventsTakeOverWhereRecordsCannotBeFetched) {
  ExpectEventsTakeOver([] { FailNext("cuptiActivityFlushAll", 999); },
                       "cuptiActivityFlushAll");
}

TEST(ActivityRecorderTest, EventsTakeOverWhereEarlierWorkLostARecord) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper sleeper, Sleeper::On(*device, 20));
  FailNext(kRecordSymbol, kRecordLost);
  TW_ASSERT_OK(sleeper.Launch());
  TW_ASSERT_OK_AND_ASSIGN(
      const int64_t ns,
      device->TimeNs(*sleeper.stream, [&] { return sleeper.Launch(); }));
  EXPECT_GE(ns, 20'000'000);
  EXPECT_EQ(device->timer_method(), TimerMethod::kDeviceEvents);
}

// The record of a launch of half a second comes after it was given up: no part
// of what is timed then, by this device or by another one that has records.
TEST(ActivityRecorderTest, LateRecordsAreNobodysTime) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper slow, Sleeper::On(*device, 500));
  FailNext(kRecordSymbol, kRecordLate);
  TW_ASSERT_OK(device->TimeNs(*slow.stream, [&] { return slow.Launch(); }));
  ASSERT_EQ(device->timer_method(), TimerMethod::kDeviceEvents);
  const int quick_ms = 1;
  TW_ASSERT_OK(slow.stream->Copy(slow.buffer->address(), &quick_ms, 4));
  TW_ASSERT_OK_AND_ASSIGN(
      const int64_t later_ns,
      device->TimeNs(*slow.stream, [&] { return slow.Launch(); }));
  EXPECT_LT(later_ns, 500'000'000);
  TW_ASSERT_OK_AND_ASSIGN(const auto second, FakeDevice());
  ASSERT_EQ(second->timer_method(), TimerMethod::kProfilerActivity);
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper quick, Sleeper::On(*second, 1));
  TW_ASSERT_OK_AND_ASSIGN(
      const int64_t other_ns,
      second->TimeNs(*quick.stream, [&] { return quick.Launch(); }));
  EXPECT_LT(other_ns, 500'000'000);
  EXPECT_EQ(second->timer_method(), TimerMethod::kProfilerActivity);
}

TEST(ActivityRecorderTest, CountsWhatIsReplayed) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper sleeper, Sleeper::On(*device, 5));
  TW_ASSERT_OK_AND_ASSIGN(const auto captured,
                          sleeper.stream->Capture([&]() -> absl::Status {
                            TW_RETURN_IF_ERROR(sleeper.Launch());
                            return sleeper.Launch();
                          }));
  for (int i = 0; i < 2; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const int64_t ns,
                            device->TimeNs(*sleeper.stream, [&] {
                              return sleeper.stream->Replay(*captured);
                            }));
    EXPECT_GE(ns, 10'000'000);
  }
  EXPECT_EQ(device->timer_method(), TimerMethod::kProfilerActivity);
}

TEST(ActivityRecorderTest, ErrorsOfTheWorkComeBack) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, FakeDevice());
  TW_ASSERT_OK_AND_ASSIGN(const Sleeper sleeper, Sleeper::On(*device, 1));
  EXPECT_THAT(device->TimeNs(*sleeper.stream,
                             [] { return absl::AbortedError("stopped"); }),
              StatusIs(StatusCode::kAborted, "stopped"));
  TW_EXPECT_OK(
      device->TimeNs(*sleeper.stream, [&] { return sleeper.Launch(); }));
}

}  // namespace
}  // namespace tilewright::cuda

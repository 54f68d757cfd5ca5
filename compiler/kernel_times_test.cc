#include "compiler/kernel_times.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/full_disk_vfs.h"
#include "measure/test_records.h"
#include "sketch/workload.h"

namespace tilewright {
namespace {

using measure::Measurement;
using measure::Method;
using measure::Record;
using measure::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Measurement Took(double ns) {
  Measurement measurement = measure::TestRecord("", ns).measurement();
  measurement.clear_verification();
  measurement.mutable_latency()->set_low_ns(ns);
  measurement.mutable_method()->set_cache(Method::WARM);
  return measurement;
}

Measurement Failed(Measurement::Fault fault, const std::string& message) {
  Measurement measurement;
  measurement.set_outcome(Measurement::RUN_ERROR);
  measurement.set_fault(fault);
  measurement.set_message(message);
  return measurement;
}

// Finds what the test says, candidate by candidate.
class FakeMeasurer : public measure::Measurer {
 public:
  explicit FakeMeasurer(std::function<Measurement(int)> find)
      : find_(std::move(find)) {}

  absl::StatusOr<std::vector<Measurement>> Measure(
      const measure::WorkloadKey&,
      absl::Span<const sketch::ScheduleProto> schedules) override {
    std::vector<Measurement> found;
    for (size_t i = 0; i < schedules.size(); ++i)
      found.push_back(find_(measured++));
    return found;
  }
  absl::StatusOr<std::vector<Measurement>> MeasureAlone(
      const measure::WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules) override {
    return Measure(workload, schedules);
  }

  int measured = 0;

 private:
  std::function<Measurement(int)> find_;
};

class KernelTimesTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "/kernel_times", getpid(), ".db");
    for (const char* suffix : {"", "-wal", "-shm"})
      unlink((path_ + suffix).c_str());
    TW_ASSERT_OK_AND_ASSIGN(spec_, HostSpec());
    TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec_));
    KernelMaker maker(*codegen);
    for (const int size : {16, 32}) {
      GroupWorkload group;
      TW_ASSERT_OK_AND_ASSIGN(
          group.workload,
          sketch::ParseWorkload(absl::StrCat(
              "A: f32[", size, "] = placeholder\nY: f32[", size,
              "] = compute (i: ", size, ") { tanh(A[i]) }\nreturn Y\n")));
      TW_ASSERT_OK_AND_ASSIGN(const CompiledKernel kernel, maker.Make(group));
      kernels_.push_back(kernel);
    }
    // The first one, scheduled in another way.
    kernels_.push_back(kernels_[0]);
    sketch::Decision decision;
    decision.name = "another";
    kernels_.back().schedule.decisions.push_back(decision);
  }

  std::unique_ptr<Store> Open(const measure::StoreOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path_, options);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // `measure` answers for candidates; verifying says `verdict`.
  KernelTimes Times(Store* store, FakeMeasurer& measurer,
                    FakeMeasurer* verifier = nullptr) {
    KernelTimesOptions options;
    options.store = store;
    options.measurer = [&measurer] { return &measurer; };
    if (verifier != nullptr) options.verifier = [verifier] { return verifier; };
    return KernelTimes(spec_, options);
  }

  static std::vector<Record> Records(Store& store) {
    std::vector<Record> records;
    TW_EXPECT_OK(store.ForEach({}, [&](const Record& record) {
      records.push_back(record);
      return absl::OkStatus();
    }));
    return records;
  }

  DeviceSpec spec_;
  std::string path_;
  // 0 and 2 are of one workload.
  std::vector<CompiledKernel> kernels_;
};

TEST_F(KernelTimesTest, WhatWasMeasuredIsKnownToTheNextRun) {
  FakeMeasurer first([](int i) { return Took(1000 + i); });
  {
    const auto store = Open();
    KernelTimes times = Times(store.get(), first);
    const auto seconds = times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
    EXPECT_EQ(*seconds[0], 1e-9 * 1000);
    EXPECT_EQ(*seconds[1], 1e-9 * 1001);
    EXPECT_EQ(*times.OneCoreSeconds({&kernels_[1]})[0], 1e-9 * 1002);
    // Known by now.
    EXPECT_EQ(*times.OneCoreSeconds({&kernels_[2]})[0], 1e-9 * 1001);
    EXPECT_EQ(times.measured(), 3);
    EXPECT_EQ(times.recorded(), 1);
    TW_EXPECT_OK(times.trouble());
  }
  FakeMeasurer second([](int) { return Took(1); });
  const auto store = Open();
  KernelTimes times = Times(store.get(), second);
  const auto seconds = times.OneCoreSeconds({&kernels_[2], &kernels_[0]});
  EXPECT_EQ(*seconds[0], 1e-9 * 1001);
  EXPECT_EQ(*seconds[1], 1e-9 * 1000);
  EXPECT_EQ(second.measured, 0);
  EXPECT_EQ(times.measured(), 0);
  EXPECT_EQ(times.recorded(), 2);
}

TEST_F(KernelTimesTest, OnlyRecordsOfTheSameKernelOnTheSameDeviceCount) {
  const auto store = Open();
  FakeMeasurer measurer([](int) { return Took(1000); });
  Times(store.get(), measurer).OneCoreSeconds({&kernels_[0]});
  ASSERT_THAT(Records(*store), SizeIs(1));
  const Record good = Records(*store)[0];
  EXPECT_EQ(good.device().structure_fingerprint(),
            StructureFingerprint(spec_).ToString());

  Record record = good;
  record.mutable_versions()->set_kernel("other");
  std::vector<Record> others = {record};
  record = good;
  record.mutable_versions()->set_code_generation(-1);
  others.push_back(record);
  record = good;
  record.mutable_device()->set_structure_fingerprint(measure::TestDevice());
  others.push_back(record);
  record = good;
  record.mutable_measurement()->mutable_method()->set_threads(2);
  others.push_back(record);
  for (const Record& other : others) {
    for (const char* suffix : {"", "-wal", "-shm"})
      unlink((path_ + suffix).c_str());
    const auto fresh = Open();
    TW_ASSERT_OK(fresh->Append(other));
    FakeMeasurer again([](int) { return Took(2000); });
    EXPECT_EQ(*Times(fresh.get(), again).OneCoreSeconds({&kernels_[0]})[0],
              1e-9 * 2000);
    EXPECT_EQ(again.measured, 1);
  }
}

TEST_F(KernelTimesTest, TheFirstTimeStands) {
  const auto store = Open();
  FakeMeasurer measurer([](int) { return Took(1000); });
  Times(store.get(), measurer).OneCoreSeconds({&kernels_[0]});
  Record later = Records(*store)[0];
  *later.mutable_measurement() = Took(500);
  TW_ASSERT_OK(store->Append(later));
  EXPECT_EQ(*Times(store.get(), measurer).OneCoreSeconds({&kernels_[0]})[0],
            1e-9 * 1000);
}

TEST_F(KernelTimesTest, FailuresOfKernelsAreRecordedThoseOfDevicesAreNot) {
  const auto store = Open();
  FakeMeasurer measurer([](int i) {
    return i == 0 ? Failed(Measurement::CANDIDATE, "signal 11")
                  : Failed(Measurement::DEVICE, "it is gone");
  });
  KernelTimes times = Times(store.get(), measurer);
  const auto seconds = times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
  EXPECT_THAT(seconds[0].status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "signal 11"));
  EXPECT_THAT(seconds[1].status(),
              StatusIs(absl::StatusCode::kUnavailable, "it is gone"));
  EXPECT_EQ(times.failed(), 2);
  EXPECT_THAT(Records(*store), SizeIs(1));

  FakeMeasurer again([](int) { return Took(1000); });
  const auto later =
      Times(store.get(), again).OneCoreSeconds({&kernels_[0], &kernels_[2]});
  EXPECT_FALSE(later[0].ok());
  EXPECT_EQ(*later[1], 1e-9 * 1000);
}

TEST_F(KernelTimesTest, WhatIsVerifiedOrWrongOnceStaysSo) {
  const auto store = Open();
  FakeMeasurer measurer([](int) { return Took(1000); });
  FakeMeasurer verifier([](int i) {
    if (i == 0) {
      Measurement measurement = Failed(Measurement::CANDIDATE, "0 is no 1");
      measurement.set_outcome(Measurement::WRONG_ANSWER);
      return measurement;
    }
    Measurement measurement = Took(1010);
    measurement.mutable_verification()->set_verified(true);
    measurement.mutable_verification()->set_reference("the test");
    return measurement;
  });
  for (int run = 0; run < 2; ++run) {
    KernelTimes times = Times(store.get(), measurer, &verifier);
    times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_THAT(times.Verify(kernels_[0]),
                  StatusIs(absl::StatusCode::kFailedPrecondition, "0 is no 1"));
      TW_EXPECT_OK(times.Verify(kernels_[2]));
    }
    EXPECT_FALSE(times.OneCoreSeconds({&kernels_[0]})[0].ok());
    EXPECT_EQ(*times.OneCoreSeconds({&kernels_[2]})[0], 1e-9 * 1000);
  }
  EXPECT_EQ(measurer.measured, 2);
  EXPECT_EQ(verifier.measured, 2);
}

TEST_F(KernelTimesTest, AFullDiskLosesNothingThatWasThere) {
  measure::FullDiskVfs& disk = measure::FullDiskVfs::Get();
  const auto store = Open({false, disk.name()});
  FakeMeasurer measurer([](int i) { return Took(1000 + i); });
  KernelTimes times = Times(store.get(), measurer);
  times.OneCoreSeconds({&kernels_[0]});
  disk.room_bytes = 0;
  EXPECT_EQ(*times.OneCoreSeconds({&kernels_[1]})[0], 1e-9 * 1001);
  EXPECT_FALSE(times.trouble().ok());
  disk.room_bytes = measure::FullDiskVfs::kUnlimited;
  EXPECT_THAT(Records(*store), SizeIs(1));
}

TEST_F(KernelTimesTest, WithoutAMeasurerNothingHasATime) {
  KernelTimesOptions options;
  options.measurer = []() -> absl::StatusOr<measure::Measurer*> {
    return absl::UnavailableError("no processes");
  };
  KernelTimes times(spec_, options);
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_THAT(times.OneCoreSeconds({&kernels_[0]})[0].status(),
                StatusIs(absl::StatusCode::kUnavailable, "no processes"));
  EXPECT_THAT(std::string(times.trouble().message()),
              HasSubstr("no processes"));
  EXPECT_EQ(times.measured(), 0);
}

TEST_F(KernelTimesTest, KernelsInTurnsHaveTheirMediansAndKeepThem) {
  // Round by round: kernel 0 and kernel 1.
  const std::vector<double> ns = {1000, 2000, 1300, 2600, 1100, 2100};
  FakeMeasurer first([&](int i) { return Took(i < 1 ? 5000 : ns[i - 1]); });
  {
    const auto store = Open();
    KernelTimes times = Times(store.get(), first);
    times.OneCoreSeconds({&kernels_[0]});
    for (int twice = 0; twice < 2; ++twice) {
      // Equal kernels have one turn.
      TW_ASSERT_OK_AND_ASSIGN(
          const std::vector<double> seconds,
          times.InTurns({&kernels_[0], &kernels_[1], &kernels_[0]}));
      EXPECT_THAT(seconds, ElementsAre(1e-9 * 1100, 1e-9 * 2100, 1e-9 * 1100));
    }
    EXPECT_EQ(times.in_turns(), 1);
    EXPECT_EQ(first.measured, 7);
    EXPECT_THAT(Records(*store), SizeIs(3));
  }
  // The next run makes the same of it, and times alone stay what they were.
  const auto store = Open();
  FakeMeasurer second([](int) { return Took(1); });
  KernelTimes times = Times(store.get(), second);
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<double> seconds,
      times.InTurns({&kernels_[0], &kernels_[1], &kernels_[0]}));
  EXPECT_EQ(seconds[1], 1e-9 * 2100);
  EXPECT_EQ(*times.OneCoreSeconds({&kernels_[0]})[0], 1e-9 * 5000);
  EXPECT_EQ(second.measured, 0);
  // Beside others it is another comparison.
  TW_EXPECT_OK(times.InTurns({&kernels_[1], &kernels_[0]}).status());
  EXPECT_EQ(second.measured, 6);
}

TEST_F(KernelTimesTest, AFailureInTurnsIsPassedOn) {
  FakeMeasurer measurer([](int i) {
    return i == 3 ? Failed(Measurement::CANDIDATE, "signal 11") : Took(1000);
  });
  KernelTimes times = Times(nullptr, measurer);
  EXPECT_THAT(times.InTurns({&kernels_[0], &kernels_[1]}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "signal 11"));
}

TEST_F(KernelTimesTest, NothingIsBegunWhenTheTimeForItIsOver) {
  FakeClock clock;
  FakeMeasurer measurer([&](int) {
    clock.AdvanceIdle(4'000'000'000);
    return Took(1000);
  });
  FakeMeasurer verifier([&](int) {
    clock.AdvanceIdle(7'000'000'000);
    Measurement measurement = Took(1000);
    measurement.mutable_verification()->set_verified(true);
    measurement.mutable_verification()->set_reference("the test");
    return measurement;
  });
  KernelTimesOptions options;
  options.measurer = [&] { return &measurer; };
  options.verifier = [&] { return &verifier; };
  options.most_measuring_seconds = 5;
  options.most_verifying_seconds = 6;
  options.clock = &clock;
  KernelTimes times(spec_, options);
  TW_EXPECT_OK(times.OneCoreSeconds({&kernels_[0]})[0].status());
  TW_EXPECT_OK(times.OneCoreSeconds({&kernels_[1]})[0].status());
  EXPECT_THAT(times.OneCoreSeconds({&kernels_[2]})[0].status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "5 s"));
  EXPECT_EQ(measurer.measured, 2);
  // Known all the same.
  TW_EXPECT_OK(times.OneCoreSeconds({&kernels_[0]})[0].status());
  TW_EXPECT_OK(times.Verify(kernels_[0]));
  EXPECT_THAT(times.Verify(kernels_[1]),
              StatusIs(absl::StatusCode::kResourceExhausted, "6 s"));
  TW_EXPECT_OK(times.trouble());
}

// The compiler is killed while the second workload is measured.
TEST_F(KernelTimesTest, WhatWasMeasuredBeforeTheProcessIsKilledIsKept) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = Open();
    FakeMeasurer measurer([](int i) {
      if (i == 2) kill(getpid(), SIGKILL);
      return Took(1000 + i);
    });
    KernelTimes times = Times(store.get(), measurer);
    times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
    times.OneCoreSeconds({&kernels_[1]});
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto store = Open();
  TW_EXPECT_OK(store->CheckIntegrity());
  FakeMeasurer measurer([](int) { return Took(5000); });
  KernelTimes times = Times(store.get(), measurer);
  const auto seconds = times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
  EXPECT_EQ(*seconds[0], 1e-9 * 1000);
  EXPECT_EQ(*seconds[1], 1e-9 * 1001);
  EXPECT_EQ(*times.OneCoreSeconds({&kernels_[1]})[0], 1e-9 * 5000);
}

}  // namespace
}  // namespace tilewright

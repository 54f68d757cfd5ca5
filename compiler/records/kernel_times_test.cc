#include "compiler/records/kernel_times.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "backends/spec/spec_fingerprint.h"
#include "base/status_matchers.h"
#include "compiler/records/kernel_times_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/full_disk_vfs.h"
#include "measure/record/test_records.h"

namespace tilewright {
namespace {

using measure::Measurement;
using measure::Record;
using measure::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

// When three kernels are measured together, each is in the file before the
// next one begins, as another process sees it: one that is killed loses no more
// than the one it was at.
TEST_F(KernelTimesTest, EachResultIsOnTheDiskBeforeTheNextBegins) {
  kernels_.push_back(kernels_[2]);
  kernels_.back().schedule.decisions.push_back({"yet another", "1"});
  const std::unique_ptr<Store> store = Open();
  ASSERT_NE(store, nullptr);
  std::vector<int64_t> there;
  FakeMeasurer measurer([&](int i) {
    const std::unique_ptr<Store> other = Open();
    const absl::StatusOr<measure::StoreStats> stats = other->Stats();
    EXPECT_TRUE(stats.ok());
    there.push_back(stats.ok() ? stats->records : -1);
    return Took(1000 + i);
  });
  KernelTimes times = Times(store.get(), measurer);
  times.OneCoreSeconds({&kernels_[0], &kernels_[2], &kernels_[3]});
  EXPECT_THAT(there, ElementsAre(0, 1, 2));
  EXPECT_EQ(times.measured(), 3);
  EXPECT_TRUE(times.trouble().ok()) << times.trouble();
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
  // A faster time that nobody verified.
  record = good;
  *record.mutable_measurement() = Took(1);
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
  *later.mutable_measurement() = Verified(500);
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
  FakeMeasurer verifier(
      [](int i) { return i == 0 ? Wrong("0 is no 1") : Verified(1010); });
  for (int run = 0; run < 2; ++run) {
    KernelTimes times = Times(store.get(), measurer, &verifier);
    for (int twice = 0; twice < 2; ++twice) {
      const auto seconds = times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
      EXPECT_THAT(seconds[0].status(),
                  StatusIs(absl::StatusCode::kFailedPrecondition, "0 is no 1"));
      // The time is that of the measurement, not of the verification.
      EXPECT_EQ(*seconds[1], 1e-9 * 1000);
    }
    EXPECT_EQ(times.verified(), run == 0 ? 1 : 0);
  }
  EXPECT_EQ(verifier.measured, 2);
  EXPECT_EQ(measurer.measured, 1);
  for (const Record& record : Records(*store))
    EXPECT_EQ(record.measurement().verification().verified(),
              record.measurement().outcome() == Measurement::OK);
}

TEST_F(KernelTimesTest, WhatIsNotVerifiedIsNotMeasured) {
  FakeMeasurer measurer([](int) { return Took(1000); });
  FakeMeasurer verifier([](int i) {
    return i == 0 ? Took(1000) : Failed(Measurement::INFRASTRUCTURE, "killed");
  });
  const auto store = Open();
  KernelTimes times = Times(store.get(), measurer, &verifier);
  const auto seconds = times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
  EXPECT_THAT(seconds[0].status(),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("could not be verified")));
  EXPECT_THAT(seconds[1].status(),
              StatusIs(absl::StatusCode::kUnavailable, "killed"));
  KernelTimesOptions nobody;
  nobody.measurer = [&] { return &measurer; };
  EXPECT_THAT(KernelTimes(spec_, nobody).OneCoreSeconds({&kernels_[0]})[0],
              StatusIs(absl::StatusCode::kUnavailable, "nobody verifies"));
  EXPECT_EQ(measurer.measured, 0);
  EXPECT_THAT(Records(*store), IsEmpty());
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
  options.verifier = [&] { return &all_right_; };
  KernelTimes times(spec_, options);
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_THAT(times.OneCoreSeconds({&kernels_[0]})[0].status(),
                StatusIs(absl::StatusCode::kUnavailable, "no processes"));
  EXPECT_THAT(std::string(times.trouble().message()),
              HasSubstr("no processes"));
  EXPECT_EQ(times.measured(), 0);
}

TEST_F(KernelTimesTest, WithoutAMeasurerRecordsTellAndTheRestIsNotKnown) {
  {
    auto store = Open();
    FakeMeasurer measurer([](int) { return Took(1000); });
    Times(store.get(), measurer).OneCoreSeconds({&kernels_[0]});
  }
  measure::StoreOptions read_only;
  read_only.read_only = true;
  auto store = Open(read_only);
  KernelTimesOptions options;
  options.store = store.get();
  KernelTimes times(spec_, options);
  const auto seconds = times.OneCoreSeconds({&kernels_[0], &kernels_[2]});
  EXPECT_THAT(seconds[0], IsOkAndHolds(1e-9 * 1000));
  EXPECT_THAT(seconds[1].status(), StatusIs(absl::StatusCode::kNotFound,
                                            HasSubstr("nobody measures")));
  EXPECT_THAT(times.OneCoreSeconds({&kernels_[1]})[0].status(),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(times.Interleaved({&kernels_[0], &kernels_[1]}).status(),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(times.recorded(), 1);
  EXPECT_EQ(times.measured(), 0);
  TW_EXPECT_OK(times.trouble());
}

TEST_F(KernelTimesTest, WhatTheSameMakerMeasuredIsFoundWithoutTheKernel) {
  const auto key = KernelMaker::KeyOf(kernels_[0].workload);
  const auto other = KernelMaker::KeyOf(kernels_[1].workload);
  FakeMeasurer measurer([](int i) { return Took(1000 + i); });
  {
    const auto store = Open();
    KernelTimes times = Times(store.get(), measurer, nullptr, "this one");
    EXPECT_EQ(times.Find(key), std::nullopt);
    times.OneCoreSeconds({&kernels_[0]});
    TW_EXPECT_OK(times.Interleaved({&kernels_[0], &kernels_[1]}).status());
    EXPECT_THAT(*times.Find(key), IsOkAndHolds(1e-9 * 1000));
  }
  const auto store = Open();
  const int measured = measurer.measured;
  KernelTimes same = Times(store.get(), measurer, nullptr, "this one");
  EXPECT_THAT(*same.Find(key), IsOkAndHolds(1e-9 * 1000));
  ASSERT_NE(same.FindInterleaved({key, other}), std::nullopt);
  EXPECT_EQ(same.FindInterleaved({other, key}), std::nullopt);
  EXPECT_EQ(same.recorded(), 1);
  // Another version, other settings: the kernels tell.
  KernelTimes changed = Times(store.get(), measurer, nullptr, "that one");
  EXPECT_EQ(changed.Find(key), std::nullopt);
  EXPECT_EQ(changed.FindInterleaved({key, other}), std::nullopt);
  EXPECT_THAT(changed.OneCoreSeconds({&kernels_[0]})[0],
              IsOkAndHolds(1e-9 * 1000));
  TW_EXPECT_OK(changed.Interleaved({&kernels_[0], &kernels_[1]}).status());
  EXPECT_EQ(measurer.measured, measured);
  // From now on without them.
  changed.Keep({&kernels_[0]});
  changed.Keep({&kernels_[0], &kernels_[1]});
  for (const char* const maker : {"this one", "that one"}) {
    KernelTimes times = Times(store.get(), measurer, nullptr, maker);
    EXPECT_THAT(*times.Find(key), IsOkAndHolds(1e-9 * 1000));
    EXPECT_NE(times.FindInterleaved({key, other}), std::nullopt);
  }
  spec_.mutable_unit()->set_cores(spec_.unit().cores() + 1);
  for (auto& level : *spec_.mutable_levels())
    level.set_capacity_bytes(2 * level.capacity_bytes());
  EXPECT_EQ(Times(store.get(), measurer, nullptr, "this one").Find(key),
            std::nullopt);
}

TEST_F(KernelTimesTest, WhatWasTunedSinceIsNotFoundWithoutTheKernel) {
  const auto store = Open();
  FakeMeasurer measurer([](int) { return Took(1000); });
  Times(store.get(), measurer, nullptr, "me").OneCoreSeconds({&kernels_[0]});
  const auto key = KernelMaker::KeyOf(kernels_[0].workload);
  ASSERT_NE(Times(store.get(), measurer, nullptr, "me").Find(key),
            std::nullopt);
  Record tuned = Records(*store)[0];
  tuned.mutable_versions()->clear_maker();
  *tuned.mutable_schedule() = kernels_[2].schedule.ToProto();
  TW_ASSERT_OK(store->Append(tuned));
  KernelTimes times = Times(store.get(), measurer, nullptr, "me");
  EXPECT_EQ(times.Find(key), std::nullopt);
  EXPECT_THAT(times.OneCoreSeconds({&kernels_[0]})[0],
              IsOkAndHolds(1e-9 * 1000));
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

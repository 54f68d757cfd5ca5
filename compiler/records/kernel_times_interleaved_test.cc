// Kernels that are measured interleaved, and the time that all of it may take.
#include <vector>

#include "base/clock.h"
#include "base/status_matchers.h"
#include "compiler/records/kernel_times.h"
#include "compiler/records/kernel_times_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using measure::Measurement;
using measure::Record;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(KernelTimesTest, KernelsInterleavedHaveTheirMediansAndKeepThem) {
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
          times.Interleaved({&kernels_[0], &kernels_[1], &kernels_[0]}));
      EXPECT_THAT(seconds, ElementsAre(1e-9 * 1100, 1e-9 * 2100, 1e-9 * 1100));
    }
    EXPECT_EQ(times.interleaved(), 1);
    EXPECT_EQ(first.measured, 7);
    // Each once, the second one for this.
    EXPECT_EQ(all_right_.measured, 2);
    EXPECT_THAT(Records(*store), SizeIs(3));
    for (const Record& record : Records(*store))
      EXPECT_TRUE(record.measurement().verification().verified());
  }
  // The next run makes the same of it, and times alone stay what they were.
  const auto store = Open();
  FakeMeasurer second([](int) { return Took(1); });
  KernelTimes times = Times(store.get(), second);
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<double> seconds,
      times.Interleaved({&kernels_[0], &kernels_[1], &kernels_[0]}));
  EXPECT_EQ(seconds[1], 1e-9 * 2100);
  EXPECT_EQ(*times.OneCoreSeconds({&kernels_[0]})[0], 1e-9 * 5000);
  EXPECT_EQ(second.measured, 0);
  // Beside others it is another comparison.
  TW_EXPECT_OK(times.Interleaved({&kernels_[1], &kernels_[0]}).status());
  EXPECT_EQ(second.measured, 6);
}

TEST_F(KernelTimesTest, AFailureInterleavedIsPassedOn) {
  FakeMeasurer measurer([](int i) {
    return i == 3 ? Failed(Measurement::CANDIDATE, "signal 11") : Took(1000);
  });
  KernelTimes times = Times(nullptr, measurer);
  EXPECT_THAT(times.Interleaved({&kernels_[0], &kernels_[1]}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "signal 11"));
}

TEST_F(KernelTimesTest, AWrongKernelIsNotMeasuredInterleaved) {
  FakeMeasurer measurer([](int) { return Took(1000); });
  FakeMeasurer verifier(
      [](int i) { return i == 1 ? Wrong("0 is no 1") : Verified(7); });
  KernelTimes times = Times(nullptr, measurer, &verifier);
  EXPECT_THAT(times.Interleaved({&kernels_[0], &kernels_[1]}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "0 is no 1"));
  EXPECT_EQ(measurer.measured, 0);
}

TEST_F(KernelTimesTest, NothingIsBegunWhenTheTimeForItIsOver) {
  FakeClock clock;
  FakeMeasurer measurer([&](int) {
    clock.AdvanceIdle(4'000'000'000);
    return Took(1000);
  });
  FakeMeasurer verifier([&](int) {
    clock.AdvanceIdle(7'000'000'000);
    return Verified(1000);
  });
  KernelTimesOptions options;
  options.measurer = [&] { return &measurer; };
  options.verifier = [&] { return &verifier; };
  options.most_seconds = 20;
  options.clock = &clock;
  KernelTimes times(spec_, options);
  TW_EXPECT_OK(times.OneCoreSeconds({&kernels_[0]})[0].status());
  // A comparison that has begun is finished.
  TW_EXPECT_OK(times.OneCoreSeconds({&kernels_[1]})[0].status());
  EXPECT_THAT(times.OneCoreSeconds({&kernels_[2]})[0].status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("20 s for measuring")));
  EXPECT_EQ(measurer.measured, 2);
  EXPECT_EQ(verifier.measured, 2);
  // Known all the same.
  TW_EXPECT_OK(times.OneCoreSeconds({&kernels_[0]})[0].status());
  TW_EXPECT_OK(times.trouble());

  // Verified in time, but not measured.
  options.most_seconds = 6;
  KernelTimes again(spec_, options);
  EXPECT_THAT(again.OneCoreSeconds({&kernels_[0]})[0].status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("6 s for measuring")));
  EXPECT_EQ(verifier.measured, 3);
  EXPECT_EQ(measurer.measured, 2);
  TW_EXPECT_OK(again.trouble());
}

}  // namespace
}  // namespace tilewright

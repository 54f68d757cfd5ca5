#include "base/clock.h"

#include <chrono>
#include <thread>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(ClockTest, SleepingTakesWallTimeAndHardlyAnyCpuTime) {
  Clock* clock = RealClock();
  const int64_t wall = clock->WallNs();
  const int64_t cpu = clock->ThreadCpuNs();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int64_t wall_taken = clock->WallNs() - wall;
  EXPECT_GE(wall_taken, 50000000);
  EXPECT_LT(clock->ThreadCpuNs() - cpu, wall_taken / 2);
}

TEST(ClockTest, WorkTakesCpuTime) {
  Clock* clock = RealClock();
  const int64_t start = clock->ThreadCpuNs();
  volatile int64_t sum = 0;
  for (int i = 0; i < 1000000; ++i) sum = sum + i;
  EXPECT_GT(clock->ThreadCpuNs(), start);
}

TEST(ClockTest, TimeStampsAreAfterThisWasWritten) {
  EXPECT_GT(RealClock()->UnixNs(), int64_t{1700000000} * 1000000000);
}

TEST(ClockTest, TheFakeClockMovesOnlyWhenTold) {
  FakeClock clock(5);
  EXPECT_EQ(clock.WallNs(), 5);
  clock.AdvanceBusy(10);
  clock.AdvanceIdle(100);
  EXPECT_EQ(clock.WallNs(), 115);
  EXPECT_EQ(clock.UnixNs(), 115);
  EXPECT_EQ(clock.ThreadCpuNs(), 10);
}

}  // namespace
}  // namespace tilewright

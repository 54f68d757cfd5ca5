#include "bench/ort/timing.h"

#include <time.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

TEST(SummarizeTest, WallTimesComeFromQuietWindowsOnly) {
  const Timing timing = Summarize(
      {{{5, 1, 3}, {4, 1, 2}, 40.0}, {{7, 6, 9, 8}, {3, 3, 3, 3}, 1.0}});
  EXPECT_EQ(timing.min_wall_ms, 6);
  EXPECT_EQ(timing.median_wall_ms, 7.5);
  EXPECT_EQ(timing.min_cpu_ms, 1);
  EXPECT_EQ(timing.median_cpu_ms, 3);
  EXPECT_EQ(timing.runs, 7);
  EXPECT_EQ(timing.quiet_windows, 1);
  EXPECT_EQ(timing.windows, 2);
}

TEST(SummarizeTest, WithoutQuietWindowsAllCountAndThatIsSaid) {
  const Timing timing = Summarize({{{5, 1, 3}, {4, 1, 2}, 40.0}});
  EXPECT_EQ(timing.min_wall_ms, 1);
  EXPECT_EQ(timing.median_wall_ms, 3);
  EXPECT_EQ(timing.quiet_windows, 0);
}

TEST(MeasureWindowTest, SleepingCostsWallTimeButNoCpuTime) {
  absl::StatusOr<Window> window = MeasureWindow(
      [] {
        const timespec time = {0, 20'000'000};
        nanosleep(&time, nullptr);
        return absl::OkStatus();
      },
      0.05);
  ASSERT_TRUE(window.ok());
  ASSERT_EQ(window->wall_ms.size(), window->cpu_ms.size());
  EXPECT_GE(window->wall_ms.size(), 1u);
  for (double wall : window->wall_ms) EXPECT_GE(wall, 20);
  for (double cpu : window->cpu_ms) EXPECT_LT(cpu, 10);
}

TEST(MeasureWindowTest, FirstFailureEndsIt) {
  int runs = 0;
  EXPECT_EQ(MeasureWindow(
                [&] {
                  ++runs;
                  return absl::InternalError("no");
                },
                10)
                .status()
                .code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace tilewright::bench

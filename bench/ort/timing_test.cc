#include "bench/ort/timing.h"

#include <time.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/machine/steady_core.h"

namespace tilewright::bench {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(SummarizeTest, TimesAreOfTheQuietRuns) {
  const Timing timing =
      Summarize({{{5, 1, 3}, {4, 1, 2}, {true, false, false}},
                 {{7, 6, 9, 8}, {3, 3, 3, 3}, {false, true, true, true}}});
  EXPECT_EQ(timing.min_wall_ms, 5);
  EXPECT_EQ(timing.median_wall_ms, 7);
  EXPECT_EQ(timing.min_cpu_ms, 3);
  EXPECT_EQ(timing.median_cpu_ms, 3);
  EXPECT_EQ(timing.runs, 7);
  EXPECT_EQ(timing.quiet_runs, 4);
}

TEST(SummarizeTest, WithoutQuietRunsAllCountAndThatIsSaid) {
  const Timing timing =
      Summarize({{{5, 1, 3}, {4, 1, 2}, {false, false, false}}});
  EXPECT_EQ(timing.min_wall_ms, 1);
  EXPECT_EQ(timing.median_wall_ms, 3);
  EXPECT_EQ(timing.min_cpu_ms, 1);
  EXPECT_EQ(timing.quiet_runs, 0);
}

TEST(QuietSecondsTest, AreThoseOfTheQuietRuns) {
  EXPECT_EQ(
      QuietSeconds({{{500, 100}, {0, 0}, {true, false}}, {{250}, {0}, {true}}}),
      0.75);
}

TEST(MeasureWindowTest, SleepingCostsWallTimeButNoCpuTime) {
  absl::StatusOr<Window> window = MeasureWindow(
      [] {
        const timespec time = {0, 20'000'000};
        nanosleep(&time, nullptr);
        return absl::OkStatus();
      },
      0.05, nullptr);
  ASSERT_TRUE(window.ok());
  ASSERT_EQ(window->wall_ms.size(), window->cpu_ms.size());
  ASSERT_EQ(window->wall_ms.size(), window->quiet.size());
  EXPECT_GE(window->wall_ms.size(), 1u);
  for (double wall : window->wall_ms) EXPECT_GE(wall, 20);
  for (double cpu : window->cpu_ms) EXPECT_LT(cpu, 10);
}

// Whether all runs are quiet of which each one takes longer than a look, on a
// core that is slower by half from the first run on, or is not.
std::vector<bool> QuietRuns(bool slower) {
  FakeClock clock;
  bool began = false;
  measure::SteadyCore core(
      [&] { clock.AdvanceBusy(began && slower ? 15'000 : 10'000); }, clock,
      [&](int64_t ns) { clock.AdvanceIdle(ns); });
  const absl::StatusOr<Window> window = MeasureWindow(
      [&] {
        began = true;
        const timespec time = {0, 2'000'000};
        nanosleep(&time, nullptr);
        return absl::OkStatus();
      },
      0.01, &core);
  return window.ok() ? window->quiet : std::vector<bool>();
}

TEST(MeasureWindowTest, RunsOnASteadyCoreAreQuiet) {
  EXPECT_THAT(QuietRuns(false), AllOf(Not(IsEmpty()), Each(true)));
}

TEST(MeasureWindowTest, RunsOnAnUnsteadyCoreAreNot) {
  EXPECT_THAT(QuietRuns(true), AllOf(Not(IsEmpty()), Each(false)));
}

TEST(MeasureWindowTest, FirstFailureEndsIt) {
  int runs = 0;
  EXPECT_EQ(MeasureWindow(
                [&] {
                  ++runs;
                  return absl::InternalError("no");
                },
                10, nullptr)
                .status()
                .code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace tilewright::bench

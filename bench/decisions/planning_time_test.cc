#include "bench/decisions/planning_time.h"

#include "backends/spec/load_spec.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/testing/fused_workloads.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {
namespace {

using ::testing::HasSubstr;

// Every look at it takes 1 us more than the one before.
class SlowingClock : public FakeClock {
 public:
  int64_t ThreadCpuNs() override {
    AdvanceBusy(1000 * looks_++);
    return FakeClock::ThreadCpuNs();
  }

 private:
  int64_t looks_ = 0;
};

TEST(PlanningTimeTest, MediansOfTheRunsByPart) {
  GroupWorkload plain;
  TW_ASSERT_OK_AND_ASSIGN(plain.workload, sketch::ParseWorkload(
                                              R"(X: f32[64] = placeholder
Y: f32[64] = compute (i: 64) { X[i] + 1 }
return Y
)"));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  SlowingClock clock;
  TW_ASSERT_OK_AND_ASSIGN(const PlanningTime time,
                          TimePlanning("map", plain, spec, 3, &clock));
  EXPECT_EQ(time.generator, "elementwise");
  // Looks 1, 5 and 9 end the generator's runs, 2, 6 and 10 the replays.
  EXPECT_DOUBLE_EQ(time.generate_ns, 5000);
  EXPECT_DOUBLE_EQ(time.replay_ns, 6000);
  EXPECT_DOUBLE_EQ(time.verify_ns, 7000);

  const sketch::FusedWorkload mlp = sketch::Mlp(32, {32, 32, 32});
  GroupWorkload fused;
  fused.workload = mlp.workload;
  fused.wishes = mlp.plan;
  TW_ASSERT_OK_AND_ASSIGN(const PlanningTime of_fused,
                          TimePlanning("mlp", fused, spec, 1, &clock));
  EXPECT_EQ(of_fused.generator, "fused");
}

TEST(PlanningTimeTest, TheTableHasARowForEachGeneratorAndOneForAll) {
  const std::string table = PlanningTable({{"a", "window", 1e6, 2e6, 3e6},
                                           {"b", "fused", 2e6, 4e6, 6e6},
                                           {"c", "window", 2e6, 4e6, 4e6}});
  EXPECT_THAT(
      table,
      HasSubstr(
          "| fused | 1 | 12.000 | 12.000 | 12.000 | 2.000 | 4.000 | 6.000 | b "
          "|\n"
          "| window | 2 | 8.000 | 8.000 | 10.000 | 1.500 | 3.000 | 3.500 | c "
          "|\n"
          "| all | 3 | 9.333 | 10.000 | 12.000 | 1.667 | 3.333 | 4.333 | b "
          "|\n"));
}

}  // namespace
}  // namespace tilewright::bench

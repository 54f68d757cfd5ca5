#include "backends/fake/device/fake_program.h"

#include <algorithm>
#include <map>
#include <vector>

#include "gtest/gtest.h"

namespace tilewright::fake {
namespace {

TEST(FakeProgramTest, EqualArgumentsGiveEqualPrograms) {
  const FakeProgram a = DrawProgram(StartUpSetting(), 50, 3, 7);
  const FakeProgram b = DrawProgram(StartUpSetting(), 50, 3, 7);
  const FakeProgram other_seed = DrawProgram(StartUpSetting(), 50, 3, 8);
  EXPECT_EQ(a.demand.compute, b.demand.compute);
  EXPECT_EQ(a.demand.compute, other_seed.demand.compute);
  int different = 0;
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(a.candidates[i].base_latency_ns, b.candidates[i].base_latency_ns);
    EXPECT_EQ(a.candidates[i].fault, b.candidates[i].fault);
    different += a.candidates[i].base_latency_ns !=
                 other_seed.candidates[i].base_latency_ns;
  }
  EXPECT_EQ(different, 50);
}

TEST(FakeProgramTest, DemandsDifferByProgramAndAreWithinTheirRange) {
  double smallest = 1, largest = 0;
  for (uint64_t program = 0; program < 200; ++program) {
    const Demand demand = DrawProgram(KernelSetting(), 0, program, 0).demand;
    smallest = std::min({smallest, demand.compute, demand.bandwidth});
    largest = std::max({largest, demand.compute, demand.bandwidth});
  }
  EXPECT_GE(smallest, 0.05);
  EXPECT_LT(smallest, 0.1);
  EXPECT_LE(largest, 1);
  EXPECT_GT(largest, 0.95);
  const Demand full = DrawProgram(NoGainSetting(), 0, 5, 0).demand;
  EXPECT_EQ(full.compute, 1);
  EXPECT_EQ(full.bandwidth, 1);
}

// The standard error of a share of 1 % in 20,000 is 0.07 %.
TEST(FakeProgramTest, LatenciesBuildsAndFaultsAreAsTheDesignSays) {
  for (const Setting& setting :
       {StartUpSetting(), KernelSetting(), BuildSetting(), NoGainSetting()}) {
    const FakeProgram program = DrawProgram(setting, 20'000, 1, 1);
    std::vector<double> latencies, builds;
    std::map<Fault, int> faults;
    for (const FakeCandidate& candidate : program.candidates) {
      EXPECT_GE(candidate.base_latency_ns, setting.low_ns);
      EXPECT_LE(candidate.base_latency_ns, setting.high_ns);
      latencies.push_back(candidate.base_latency_ns);
      builds.push_back(candidate.build_ns);
      ++faults[candidate.fault];
    }
    std::sort(latencies.begin(), latencies.end());
    std::sort(builds.begin(), builds.end());
    const double middle = latencies[10'000];
    EXPECT_NEAR(middle * middle / (setting.low_ns * setting.high_ns), 1, 0.1);
    EXPECT_NEAR(builds[10'000] / setting.median_build_ns, 1, 0.03);
    // One sigma above the median: 84.1 %.
    EXPECT_NEAR(builds[16'827] / builds[10'000], 1.6487, 0.06);
    EXPECT_NEAR(faults[Fault::kHang], 200, 50);
    for (const Fault fault : {Fault::kCrash, Fault::kStickyError,
                              Fault::kWrongResult, Fault::kOutOfMemory}) {
      EXPECT_NEAR(faults[fault], 250, 60);
    }
  }
}

}  // namespace
}  // namespace tilewright::fake

#include "tools/host/experiments.h"

#include <set>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/machine/memory_loops.h"

namespace tilewright::tools {
namespace {

TEST(ExperimentsTest, VariationIsThatOfThePerformanceSoFar) {
  // Ten executions of 1, then ten of 3: means 1 and 2 after each micro-batch,
  // performances 1 / 10 and 2 / 40.
  std::vector<double> latencies(10, 1);
  latencies.insert(latencies.end(), 10, 3);
  latencies.insert(latencies.end(), 5, 3);
  const HostFacts::Variation curve =
      VariationOfLatencies("k", "cpu", latencies);
  EXPECT_EQ(curve.kernel, "k");
  EXPECT_EQ(curve.clock, "cpu");
  EXPECT_EQ(curve.repeats, (std::vector<int>{10, 20, 25}));
  ASSERT_EQ(curve.cv.size(), 3u);
  EXPECT_EQ(curve.cv[0], 0);
  EXPECT_GT(curve.cv[1], 0.2);
}

TEST(ExperimentsTest, KernelsAreArithmeticEveryCacheAndMemory) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  constexpr int64_t kBytes = 8 << 20;
  const auto memory = measure::AllocateTouched(kBytes);
  std::set<std::string> names;
  for (const WorkKernel& kernel : WorkKernels(spec, memory.get(), kBytes)) {
    names.insert(kernel.name);
    // Any thread, within the memory.
    for (const int thread : {0, 1, 7, 1000}) kernel.run(thread);
  }
  EXPECT_EQ(names, (std::set<std::string>{"f32", "l1", "l2", "l3", "dram"}));
}

TEST(ExperimentsTest, InterferenceIsAgainstAlone) {
  const WorkKernel kernel = {"k", [](int) {}};
  const std::vector<HostFacts::Interference> points = InterferenceOf(kernel, 3);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].wall_slowdown, 1);
  EXPECT_EQ(points[0].cpu_slowdown, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(points[static_cast<size_t>(i)].degree, i + 1);
    EXPECT_GT(points[static_cast<size_t>(i)].wall_slowdown, 0);
  }
}

TEST(ExperimentsTest, ClocksStep) {
  EXPECT_GT(SmallestStepNs(CLOCK_MONOTONIC), 0);
  EXPECT_LT(SmallestStepNs(CLOCK_MONOTONIC), 1e9);
}

}  // namespace
}  // namespace tilewright::tools

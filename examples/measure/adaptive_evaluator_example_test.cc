// The adaptive evaluator alone, around somebody's own timer.

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/parallel/adaptive_evaluator.h"

namespace {

using ::tilewright::Random;
using ::tilewright::measure::AdaptiveEvaluator;
using ::tilewright::measure::AdaptiveEvaluatorOptions;

// A kernel of 100 us whose time varies by a factor of e^spread.
std::vector<double> Execute(int repeats, double spread, Random& random) {
  std::vector<double> latencies_ns;
  for (int i = 0; i < repeats; ++i) {
    latencies_ns.push_back(1e5 * std::exp(spread * random.Normal()));
  }
  return latencies_ns;
}

int RepeatsNeeded(double spread) {
  AdaptiveEvaluatorOptions options;
  options.threshold = 0.005;
  AdaptiveEvaluator evaluator(options);
  Random random(1);
  while (const int repeats = evaluator.NextRepeats()) {
    TW_EXPECT_OK(evaluator.Add(Execute(repeats, spread, random)));
  }
  EXPECT_NEAR(evaluator.latency_ns(), 1e5 * std::exp(spread * spread / 2), 1e4);
  return static_cast<int>(evaluator.latencies_ns().size());
}

TEST(AdaptiveEvaluatorExampleTest, ANoisyKernelIsRepeatedMoreOften) {
  // The floor: three micro-batches.
  const AdaptiveEvaluatorOptions defaults;
  const int fewest = defaults.min_micro_batches * defaults.micro_batch;
  EXPECT_EQ(RepeatsNeeded(0.01), fewest);
  EXPECT_GT(RepeatsNeeded(0.5), fewest);
}

}  // namespace

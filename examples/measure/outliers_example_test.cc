// The outlier detector alone, for somebody's own benchmark: which repeats were
// disturbed.

#include <vector>

#include "gtest/gtest.h"
#include "measure/stats/outliers.h"

namespace {

TEST(OutliersExampleTest, FindsTheRepeatsThatAnInterruptDisturbed) {
  // Skewed, as latencies are: 1.3 ms is still usual, 2.1 and 9 are not.
  const std::vector<double> repeats_ms = {1.00, 1.02, 1.05, 9.00, 1.10, 1.01,
                                          1.20, 1.03, 2.10, 1.30, 1.04, 1.08};
  EXPECT_EQ(tilewright::measure::FindOutliers(repeats_ms),
            (std::vector<int>{3, 8}));
}

}  // namespace

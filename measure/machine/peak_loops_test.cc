#include "measure/machine/peak_loops.h"

#include <cmath>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

TEST(PeakLoopsTest, EveryCpuHasFloatsAndDoubles) {
  std::set<std::string> dtypes;
  for (const PeakLoop& loop : PeakLoops()) {
    EXPECT_TRUE(dtypes.insert(loop.dtype).second) << loop.dtype;
    EXPECT_FALSE(loop.instructions.empty());
  }
  EXPECT_EQ(dtypes.count("f32"), 1u);
  EXPECT_EQ(dtypes.count("f64"), 1u);
  EXPECT_EQ(PeakLoops().front().dtype, "f32");
}

TEST(PeakLoopsTest, RunTheirInstructions) {
  for (const PeakLoop& loop : PeakLoops()) {
    const float result = loop.batch();
    EXPECT_TRUE(std::isfinite(result)) << loop.dtype;
    // x <- 0.999 x + 0.001 tends to 1 in every lane of 14 accumulators.
    if (loop.dtype == "f32" || loop.dtype == "f64") {
      const float lanes = std::round(result / 14);
      EXPECT_NEAR(result, 14 * lanes, 1e-2 * lanes) << loop.dtype;
    }
    EXPECT_GT(loop.ops_per_batch, 1e6);
  }
}

}  // namespace
}  // namespace tilewright::measure

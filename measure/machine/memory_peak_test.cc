#include "measure/machine/memory_peak.h"

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

TEST(MemoryPeakTest, MovesBytesAndRemembersTheBest) {
  for (const int threads : {1, 2}) {
    MemoryPeak peak(threads, 1 << 16);
    const double first = peak.Sample(0.003);
    const double second = peak.Sample(0.003);
    EXPECT_GT(first, 0);
    EXPECT_GT(second, 0);
    EXPECT_GT(peak.SampleMemcpy(0.003), 0);
    EXPECT_EQ(peak.best_gbytes_per_s(), first > second ? first : second);
  }
}

TEST(MemoryPeakTest, TakesTinyWorkingSets) {
  MemoryPeak peak(3, 1);
  EXPECT_GT(peak.Sample(0.003), 0);
}

}  // namespace
}  // namespace tilewright::measure

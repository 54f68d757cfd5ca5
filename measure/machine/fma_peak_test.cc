#include "measure/machine/fma_peak.h"

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

TEST(FmaPeakTest, IsAPlausibleRateAndRemembersTheBest) {
  FmaPeak peak(1);
  const double first = peak.Sample(0.005);
  EXPECT_GT(first, 1);
  EXPECT_LT(first, 1000);
  EXPECT_GE(peak.Best(3), first);
  EXPECT_EQ(peak.best_gflops(), peak.Best(0));
}

TEST(FmaPeakTest, NarrowerVectorsAreNamedAndDoFewerAtATime) {
  EXPECT_EQ(FmaPeakInstructions(16), "SSE2 (no FMA)");
  EXPECT_NE(FmaPeakInstructions(32), "AVX-512");
  FmaPeak narrow(1, 16);
  EXPECT_GT(narrow.Sample(0.005), 1);
}

TEST(FmaPeakTest, ManyThreadsEndAndCountTogether) {
  FmaPeak peak(2);
  EXPECT_GT(peak.Sample(0.005), 1);
}

}  // namespace
}  // namespace tilewright::measure

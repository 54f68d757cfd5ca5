#include "measure/parallel/adaptive_timeout.h"

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

// 40 tanh(0.015 d): d = 1 0.600, 8 4.777, 9 5.368, 16 9.420, 24 13.81,
// 32 17.85, 36 19.72, 37 20.17, 64 29.77.
TEST(AdaptiveTimeoutTest, EquationTwo) {
  EXPECT_EQ(AdaptiveTimeoutSeconds(1), 4);
  EXPECT_EQ(AdaptiveTimeoutSeconds(2), 4);
  EXPECT_EQ(AdaptiveTimeoutSeconds(8), 4);
  EXPECT_EQ(AdaptiveTimeoutSeconds(9), 5);
  EXPECT_EQ(AdaptiveTimeoutSeconds(16), 9);
  EXPECT_EQ(AdaptiveTimeoutSeconds(24), 13);
  EXPECT_EQ(AdaptiveTimeoutSeconds(32), 17);
  EXPECT_EQ(AdaptiveTimeoutSeconds(36), 19);
  EXPECT_EQ(AdaptiveTimeoutSeconds(37), 20);
  EXPECT_EQ(AdaptiveTimeoutSeconds(64), 20);
}

TEST(AdaptiveTimeoutTest, OnlyTheProductOfDegreeAndDevicesCounts) {
  EXPECT_EQ(AdaptiveTimeoutSeconds(8, 2), AdaptiveTimeoutSeconds(16, 1));
  EXPECT_EQ(AdaptiveTimeoutSeconds(9, 4), AdaptiveTimeoutSeconds(36, 1));
}

// 4 tanh(0.5 d) between 1 and 2: d = 1 1.848, 2 3.046.
TEST(AdaptiveTimeoutTest, EquationTwoWithOtherBounds) {
  AdaptiveTimeoutOptions options;
  options.shortest_s = 1;
  options.longest_s = 2;
  options.slope = 1;
  EXPECT_EQ(AdaptiveTimeoutSeconds(1, 1, options), 1);
  EXPECT_EQ(AdaptiveTimeoutSeconds(2, 1, options), 2);
}

// With c = d: 0.06 (c - 20.25) = -1.155 -0.975 -0.735 -0.255 -0.015 0.705
// 1.665; 9.1 tanh of it + 10.9 = 3.44 4.05 5.20 8.63 10.76 16.43 19.38.
TEST(AdaptiveTimeoutTest, AsPublished) {
  AdaptiveTimeoutOptions options;
  options.curve = AdaptiveTimeoutOptions::Curve::kPublished;
  EXPECT_EQ(AdaptiveTimeoutSeconds(1, 1, options), 4);
  EXPECT_EQ(AdaptiveTimeoutSeconds(4, 1, options), 5);
  EXPECT_EQ(AdaptiveTimeoutSeconds(8, 1, options), 6);
  EXPECT_EQ(AdaptiveTimeoutSeconds(16, 1, options), 9);
  EXPECT_EQ(AdaptiveTimeoutSeconds(20, 1, options), 11);
  EXPECT_EQ(AdaptiveTimeoutSeconds(32, 1, options), 17);
  EXPECT_EQ(AdaptiveTimeoutSeconds(48, 1, options), 20);
  EXPECT_EQ(AdaptiveTimeoutSeconds(64, 1, options), 20);
  // Two devices count as one, three as two.
  EXPECT_EQ(AdaptiveTimeoutSeconds(8, 2, options), 6);
  EXPECT_EQ(AdaptiveTimeoutSeconds(8, 3, options), 9);
}

}  // namespace
}  // namespace tilewright::measure

#include "bench/measuring/kendall_tau.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(KendallTauTest, WorkedByHand) {
  EXPECT_EQ(KendallTau({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
  EXPECT_EQ(KendallTau({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // One of six pairs is the other way round.
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {1, 3, 2, 4}), 4.0 / 6);
  // A tie is in no order.
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3}, {1, 1, 3}), 2.0 / 3);
}

// 1 and 1.2 are in another order, but not apart.
TEST(KendallTauTest, OnlyWhatIsApart) {
  EXPECT_DOUBLE_EQ(KendallTau({1, 1.2, 3}, {2, 1, 3}), 1.0 / 3);
  EXPECT_EQ(KendallTau({1, 1.2, 3}, {2, 1, 3}, 0.25), 1);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1.2, 3}, {2, 1, 3}, 0.15), 1.0 / 3);
}

TEST(KendallTauTest, WhatHasNoNumberDoesNotCount) {
  EXPECT_EQ(KendallTau({1, kNone, 3, 4}, {1, 9, 2, 3}), 1);
  EXPECT_TRUE(std::isnan(KendallTau({1, kNone}, {1, 2})));
}

}  // namespace
}  // namespace tilewright::bench

#include "measure/verify/unbounded_share.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ReferenceTensor Floats(std::vector<double> value, std::vector<double> bound) {
  return {DType::kFloat32,
          {static_cast<int64_t>(value.size())},
          std::move(value),
          {},
          std::move(bound)};
}

TEST(UnboundedShareTest, CountsBoundsThatReachTheLargestValue) {
  EXPECT_EQ(UnboundedShare(Floats({1, -2, 0, 0}, {0.49, 0.1, 0.3, 0.51}), 4),
            0.25);
  EXPECT_EQ(UnboundedShare(Floats({1, -2, 0, 0}, {0.49, 0.1, 0.3, 0.51}), 2),
            0);
}

TEST(UnboundedShareTest, CountsWhereTheAnalysisGaveUp) {
  EXPECT_EQ(UnboundedShare(Floats({1, 2, kInfinity, kNan},
                                  {kInfinity, 0.1, kInfinity, kNan}),
                           4),
            0.75);
}

TEST(UnboundedShareTest, WhatIsExactIsComparedInfiniteOrNot) {
  EXPECT_EQ(UnboundedShare(Floats({0, kInfinity, kNan}, {0, 0, 0}), 4), 0);
  EXPECT_EQ(UnboundedShare(Floats({0, kInfinity, kNan}, {}), 4), 0);
}

TEST(UnboundedShareTest, ZerosWithinABoundSayNothing) {
  EXPECT_EQ(UnboundedShare(Floats({0, 0}, {1e-30, 0}), 4), 0.5);
}

TEST(UnboundedShareTest, IntegersDifferByOneAtLeast) {
  const ReferenceTensor integers = {
      DType::kInt32, {4}, {}, {0, 0, 0, 0}, {0, 0.2, 0.25, 1}};
  EXPECT_EQ(UnboundedShare(integers, 4), 0.5);
}

}  // namespace
}  // namespace tilewright::measure

#include "measure/stats/outliers.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Median 4. At most 4: 1 2 3 4, deviations 3 2 1 0, their median 1.5. At least
// 4: 4 8 12 40, deviations 0 4 8 36, their median 6.
TEST(OutliersTest, TheTwoSidesHaveTheirOwnDeviation) {
  const std::vector<double> values = {40, 1, 8, 3, 4, 12, 2};
  EXPECT_THAT(
      ModifiedZScores(values),
      ElementsAre(DoubleEq(0.6745 * 36 / 6), DoubleEq(0.6745 * -3 / 1.5),
                  DoubleEq(0.6745 * 4 / 6), DoubleEq(0.6745 * -1 / 1.5), 0,
                  DoubleEq(0.6745 * 8 / 6), DoubleEq(0.6745 * -2 / 1.5)));
  // 4.047 is above 3, 1.349 is not.
  EXPECT_THAT(FindOutliers(values), ElementsAre(0));
  EXPECT_THAT(FindOutliers(values, 1), ElementsAre(0, 1));
  EXPECT_THAT(FindOutliers(values, 5), IsEmpty());
}

// An even number: the median, 5, is none of them. Below: 5-4, 5-2; above: 6-5,
// 20-5; each side has two, and its MAD is their mean, 2 and 8.
TEST(OutliersTest, TheMedianOfAnEvenNumberBelongsToNoSide) {
  EXPECT_THAT(ModifiedZScores({2, 4, 6, 20}),
              ElementsAre(DoubleEq(0.6745 * -3 / 2), DoubleEq(0.6745 * -1 / 2),
                          DoubleEq(0.6745 * 1 / 8), DoubleEq(0.6745 * 15 / 8)));
}

TEST(OutliersTest, BothSidesCanHaveOutliers) {
  EXPECT_THAT(FindOutliers({10, 11, 9, 10.5, 9.5, 1, 100, 10}),
              ElementsAre(5, 6));
}

// With one outlier of any size the score is taken from the others alone.
TEST(OutliersTest, AnOutlierDoesNotHideItself) {
  for (const double size : {1e2, 1e6, 1e300}) {
    EXPECT_THAT(FindOutliers({1, 2, 3, 4, 5, 6, 7, 8, size}), ElementsAre(8))
        << size;
  }
}

TEST(OutliersTest, NoneAmongNoneOneOrEqualValues) {
  EXPECT_THAT(ModifiedZScores({}), IsEmpty());
  EXPECT_THAT(FindOutliers({}), IsEmpty());
  EXPECT_THAT(ModifiedZScores({5}), ElementsAre(0));
  EXPECT_THAT(ModifiedZScores({5, 5, 5, 5}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(FindOutliers({5, 5, 5, 5}), IsEmpty());
}

// Two values lie each at its side's MAD, three ones at 0 and twice the MAD.
TEST(OutliersTest, NoneAmongTwoOrThreeValues) {
  EXPECT_THAT(ModifiedZScores({1, 1000}),
              ElementsAre(DoubleEq(-0.6745), DoubleEq(0.6745)));
  EXPECT_THAT(ModifiedZScores({1, 2, 1000}),
              ElementsAre(DoubleEq(-1.349), 0, DoubleEq(1.349)));
}

// More than half of a side equal the median: its MAD is 0.
TEST(OutliersTest, WhatDiffersFromOtherwiseEqualValuesIsInfinitelyFar) {
  EXPECT_THAT(ModifiedZScores({5, 5, 5, 5, 6}),
              ElementsAre(0, 0, 0, 0, kInfinity));
  EXPECT_THAT(ModifiedZScores({5, 5, 4, 5, 5}),
              ElementsAre(0, 0, -kInfinity, 0, 0));
  EXPECT_THAT(FindOutliers({5, 5, 5, 5, 6}, 1e300), ElementsAre(4));
}

TEST(OutliersTest, WhatIsNotFiniteIsAnOutlierAndMovesNobody) {
  const std::vector<double> scores =
      ModifiedZScores({kNaN, 2, 4, kInfinity, 6, 20, -kInfinity});
  EXPECT_TRUE(std::isnan(scores[0]));
  EXPECT_DOUBLE_EQ(scores[1], 0.6745 * -3 / 2);
  EXPECT_EQ(scores[3], kInfinity);
  EXPECT_DOUBLE_EQ(scores[5], 0.6745 * 15 / 8);
  EXPECT_EQ(scores[6], -kInfinity);
  EXPECT_THAT(FindOutliers({kNaN, 2, 4, kInfinity, 6, 20, -kInfinity}),
              ElementsAre(0, 3, 6));
  EXPECT_THAT(FindOutliers({kNaN, kInfinity}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tilewright::measure

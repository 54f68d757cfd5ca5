#include "measure/stats/coefficient_of_variation.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Mean 5, squared deviations 9 1 1 1 0 0 4 16: std = sqrt(32 / 8) = 2.
TEST(CoefficientOfVariationTest, EightValuesByHand) {
  EXPECT_DOUBLE_EQ(CoefficientOfVariation({2, 4, 4, 4, 5, 5, 7, 9}), 0.4);
}

TEST(CoefficientOfVariationTest, DoesNotDependOnTheUnit) {
  EXPECT_DOUBLE_EQ(CoefficientOfVariation({2e9, 4e9, 6e9}),
                   CoefficientOfVariation({1, 2, 3}));
}

TEST(CoefficientOfVariationTest, OneValueOrEqualValuesDoNotVary) {
  EXPECT_EQ(CoefficientOfVariation({3}), 0);
  EXPECT_EQ(CoefficientOfVariation({0.5, 0.5, 0.5}), 0);
}

TEST(CoefficientOfVariationTest, IsNotNegativeForANegativeMean) {
  EXPECT_DOUBLE_EQ(CoefficientOfVariation({-1, -3}), 0.5);
}

TEST(CoefficientOfVariationTest, IsNaNWhereItIsNotDefined) {
  EXPECT_TRUE(std::isnan(CoefficientOfVariation({})));
  EXPECT_TRUE(std::isnan(CoefficientOfVariation({0, 0})));
  EXPECT_TRUE(std::isnan(CoefficientOfVariation({1, kNaN})));
  EXPECT_TRUE(std::isnan(CoefficientOfVariation({1, kInfinity})));
  EXPECT_TRUE(std::isnan(CoefficientOfVariation({-kInfinity, kInfinity})));
}

}  // namespace
}  // namespace tilewright::measure

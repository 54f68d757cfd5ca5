#include "base/random.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(RandomTest, ASeedGivesTheSameNumbersForEver) {
  Random random(1);
  EXPECT_EQ(random.Next(), 14971601782005023387u);
  EXPECT_EQ(random.UniformInt(-10, 1000000), 191650);
  EXPECT_EQ(random.Uniform(), 0x1.9a37d5757aafp-4);
  EXPECT_EQ(random.Normal(), 0x1.2998d199b2d38p-1);
  EXPECT_EQ(random.Normal(), 0x1.25b48c3ef49c4p-5);
}

TEST(RandomTest, SeedsDiffer) { EXPECT_NE(Random(1).Next(), Random(2).Next()); }

TEST(RandomTest, IntegersCoverTheirRangeEvenly) {
  Random random(7);
  std::vector<int> counts(6);
  for (int i = 0; i < 60000; ++i) ++counts[random.UniformInt(-2, 3) + 2];
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - 10000.0) * (count - 10000.0) / 10000;
  }
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom, p = 0.001
  EXPECT_EQ(random.UniformInt(5, 5), 5);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  bool negative = false, positive = false;
  for (int i = 0; i < 100; ++i) {
    (random.UniformInt(kMin, kMax) < 0 ? negative : positive) = true;
    EXPECT_GE(random.UniformInt(kMax - 1, kMax), kMax - 1);
  }
  EXPECT_TRUE(negative && positive);
}

TEST(RandomTest, UniformDoublesFillTheHalfOpenInterval) {
  Random random(8);
  double sum = 0, low = 1, high = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = random.Uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.004);
  EXPECT_LT(low, 1e-3);
  EXPECT_GT(high, 1 - 1e-3);
}

TEST(RandomTest, NormalsHaveTheMomentsAndTailsOfTheNormalDistribution) {
  Random random(9);
  constexpr int kCount = 200000;
  double sum[5] = {};
  int beyond_two = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.Normal();
    for (int power = 1; power <= 4; ++power) sum[power] += std::pow(x, power);
    if (std::abs(x) > 2) ++beyond_two;
  }
  EXPECT_NEAR(sum[1] / kCount, 0, 0.01);
  EXPECT_NEAR(sum[2] / kCount, 1, 0.02);
  EXPECT_NEAR(sum[3] / kCount, 0, 0.05);
  EXPECT_NEAR(sum[4] / kCount, 3, 0.1);
  EXPECT_NEAR(beyond_two / static_cast<double>(kCount), 0.0455, 0.002);
}

TEST(RandomTest, BernoulliFollowsItsProbability) {
  Random random(10);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    if (random.Bernoulli(0.25)) ++hits;
    EXPECT_FALSE(random.Bernoulli(0));
    EXPECT_TRUE(random.Bernoulli(1));
  }
  EXPECT_NEAR(hits, 2500, 150);
}

TEST(RandomTest, ShuffleKeepsTheElementsAndReachesEveryOrder) {
  Random random(11);
  std::vector<int> orders(6);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> values = {0, 1, 2};
    random.Shuffle(absl::MakeSpan(values));
    ASSERT_THAT(values, UnorderedElementsAre(0, 1, 2));
    ++orders[values[0] * 2 + (values[1] > values[2] ? 1 : 0)];
  }
  for (const int count : orders) EXPECT_NEAR(count, 1000, 130);
}

}  // namespace
}  // namespace tilewright

#include "measure/stats/paired_ratio.h"

#include <cmath>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

// Both of a round are `slowdown` times slower, and apart from that 1 % off.
std::vector<double> Rounds(double ns, const std::vector<double>& slowdowns,
                           Random& random) {
  std::vector<double> times;
  for (const double slowdown : slowdowns)
    times.push_back(ns * slowdown * (1 + 0.01 * random.Normal()));
  return times;
}

TEST(CompareRoundsTest, SlowRoundsDoNotHideAGainOfTwoPercent) {
  Random random(1);
  std::vector<double> slowdowns;
  for (int i = 0; i < 21; ++i) slowdowns.push_back(random.Uniform(1, 3));
  TW_ASSERT_OK_AND_ASSIGN(const PairedRatio ratio,
                          CompareRounds(Rounds(98, slowdowns, random),
                                        Rounds(100, slowdowns, random)));
  EXPECT_EQ(ratio.rounds, 21);
  EXPECT_NEAR(ratio.median, 0.98, 0.01);
  EXPECT_TRUE(ratio.is_faster());
  EXPECT_FALSE(ratio.is_slower());
}

// At most 5 of 100 equal ones are called faster or slower.
TEST(CompareRoundsTest, EqualOnesAreRarelyCalledDifferent) {
  for (const int rounds : {6, 9, 15, 20}) {
    Random random(static_cast<uint64_t>(rounds));
    const std::vector<double> slowdowns(static_cast<size_t>(rounds), 1);
    int different = 0;
    constexpr int kTrials = 4000;
    for (int i = 0; i < kTrials; ++i) {
      TW_ASSERT_OK_AND_ASSIGN(const PairedRatio ratio,
                              CompareRounds(Rounds(100, slowdowns, random),
                                            Rounds(100, slowdowns, random)));
      different += ratio.is_faster() || ratio.is_slower();
    }
    // Three deviations of a count of 200.
    EXPECT_LT(different, 0.05 * kTrials + 3 * std::sqrt(0.05 * kTrials))
        << rounds;
    EXPECT_GT(different, 0) << rounds;
  }
}

// The interval by its definition: of 9 the second to the eighth, 2 (1 + 9) of
// 512 cases lie outside.
TEST(CompareRoundsTest, TheIntervalIsThatOfTheSignTest) {
  std::vector<double> a, b;
  for (int i = 9; i >= 1; --i) a.push_back(i), b.push_back(1);
  TW_ASSERT_OK_AND_ASSIGN(const PairedRatio nine, CompareRounds(a, b));
  EXPECT_EQ(nine.median, 5);
  EXPECT_EQ(nine.low, 2);
  EXPECT_EQ(nine.high, 8);
  a.resize(6), b.resize(6);
  TW_ASSERT_OK_AND_ASSIGN(const PairedRatio six, CompareRounds(a, b));
  EXPECT_EQ(six.low, 4);
  EXPECT_EQ(six.high, 9);
}

TEST(CompareRoundsTest, FiveRoundsTellNothing) {
  TW_ASSERT_OK_AND_ASSIGN(const PairedRatio ratio,
                          CompareRounds({1, 1, 1, 1, 1}, {9, 9, 9, 9, 9}));
  EXPECT_FALSE(ratio.is_faster());
  EXPECT_FALSE(ratio.is_slower());
}

TEST(CompareRoundsTest, OnePercentWithinTheNoiseSeemsSlower) {
  const std::vector<double> ones(9, 1);
  TW_ASSERT_OK_AND_ASSIGN(
      const PairedRatio slow,
      CompareRounds({0.9, 0.95, 0.96, 0.99, 1.01, 1.02, 1.1, 1.2, 1.3}, ones));
  EXPECT_FALSE(slow.is_slower());
  EXPECT_TRUE(slow.seems_slower());
  TW_ASSERT_OK_AND_ASSIGN(
      const PairedRatio equal,
      CompareRounds({0.9, 0.95, 0.96, 0.99, 1.001, 1.02, 1.1, 1.2, 1.3}, ones));
  EXPECT_FALSE(equal.seems_slower());
}

TEST(CompareRoundsTest, RefusesWhatIsNoComparison) {
  for (const auto& [a, b] :
       std::vector<std::pair<std::vector<double>, std::vector<double>>>{
           {{}, {}}, {{1}, {1, 2}}, {{0}, {1}}, {{1}, {NAN}}, {{-1}, {1}}}) {
    EXPECT_THAT(CompareRounds(a, b),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace tilewright::measure

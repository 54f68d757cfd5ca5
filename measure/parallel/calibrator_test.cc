#include "measure/parallel/calibrator.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// l_i / v_i about 1/60; `odd` alone has half of that.
std::vector<ParallelMeasurement> Round(int n, int odd = -1) {
  std::vector<ParallelMeasurement> round;
  for (int i = 0; i < n; ++i) {
    const double latency_ns = 1000 + 100 * i;
    round.push_back(
        {latency_ns, latency_ns * (60 + 0.1 * i) * (i == odd ? 2 : 1)});
  }
  return round;
}

TEST(ChooseRemeasuredTest, AFifthOfTheRoundRoundedUp) {
  Random random(1);
  EXPECT_THAT(ChooseRemeasured(Round(10), {}, random), SizeIs(2));
  EXPECT_THAT(ChooseRemeasured(Round(11), {}, random), SizeIs(3));
  EXPECT_THAT(ChooseRemeasured(Round(15), {}, random), SizeIs(3));
  EXPECT_THAT(ChooseRemeasured(Round(1), {}, random), ElementsAre(0));
  EXPECT_THAT(ChooseRemeasured({}, {}, random), IsEmpty());
}

TEST(ChooseRemeasuredTest, ButNotFewerThanAskedForIfThereAreAsMany) {
  CalibratorOptions options;
  options.smallest_sample = 2;
  Random random(1);
  EXPECT_THAT(ChooseRemeasured(Round(5), options, random), SizeIs(2));
  EXPECT_THAT(ChooseRemeasured(Round(15), options, random), SizeIs(3));
  EXPECT_THAT(ChooseRemeasured(Round(1), options, random), ElementsAre(0));
  EXPECT_THAT(ChooseRemeasured({}, options, random), IsEmpty());
}

TEST(ChooseRemeasuredTest, OutliersAreAlwaysAmongThem) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    EXPECT_THAT(ChooseRemeasured(Round(10, /*odd=*/7), {}, random),
                Contains(7));
  }
}

// Four of ten are outliers, more than the two that the share asks for: no
// others. The median of the ratios is that of the equal six, whose MADs are 0.
TEST(ChooseRemeasuredTest, ManyOutliersAreAllRepeated) {
  std::vector<ParallelMeasurement> round(10, {1, 60});
  for (const int i : {1, 4, 5, 9}) {
    round[static_cast<size_t>(i)].duration_ns = 80;
  }
  Random random(1);
  EXPECT_THAT(ChooseRemeasured(round, {}, random), ElementsAre(1, 4, 5, 9));
}

// Two of ten are due: 7 is an outlier, and one more is asked for. With 2 and 3
// there are enough without a draw; 7 counts once.
TEST(ChooseRemeasuredTest, WhatIsAskedForIsAmongThem) {
  Random random(1);
  EXPECT_THAT(ChooseRemeasured(Round(10, /*odd=*/7), {}, random, {4}),
              ElementsAre(4, 7));
  EXPECT_THAT(ChooseRemeasured(Round(10, /*odd=*/7), {}, random, {7, 2, 3}),
              ElementsAre(2, 3, 7));
  EXPECT_THAT(ChooseRemeasured(Round(10), {}, random, {4}),
              AllOf(Contains(4), SizeIs(2)));
}

TEST(ChooseRemeasuredTest, TheOthersAreDrawn) {
  std::set<std::vector<int>> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const std::vector<int> chosen = ChooseRemeasured(Round(10), {}, random);
    seen.insert(chosen);
    Random again(seed);
    EXPECT_EQ(ChooseRemeasured(Round(10), {}, again), chosen);
  }
  EXPECT_GT(seen.size(), 10);
}

TEST(ChooseRemeasuredTest, ALatencyThatIsNoNumberIsRepeated) {
  std::vector<ParallelMeasurement> round = Round(10);
  round[3].latency_ns = kNaN;
  round[6].duration_ns = 0;
  Random random(1);
  EXPECT_THAT(ChooseRemeasured(round, {}, random), ElementsAre(3, 6));
}

// |90 - 100| / 100 = 0.1, |50 - 200| / 200 = 0.75, |440 - 400| / 400 = 0.1:
// 0.95 / 3.
TEST(RoundDeltaTest, ThreeByHand) {
  const std::vector<ParallelMeasurement> round = {
      {100, 1}, {7, 1}, {200, 1}, {400, 1}};
  const std::optional<double> delta =
      RoundDelta(round, {{0, 90}, {2, 50}, {3, 440}}, {});
  ASSERT_TRUE(delta.has_value());
  EXPECT_DOUBLE_EQ(*delta, 0.95 / 3);
}

// Two are faster alone, one slower; that one by itself is noise.
TEST(RoundDeltaTest, SignedByHand) {
  CalibratorOptions options;
  options.signed_delta = true;
  const std::vector<ParallelMeasurement> round = {
      {100, 1000}, {200, 1000}, {400, 1000}};
  EXPECT_DOUBLE_EQ(*RoundDelta(round, {{0, 90}, {1, 150}, {2, 440}}, options),
                   (0.1 + 0.25 - 0.1) / 3);
  EXPECT_EQ(*RoundDelta(round, {{2, 440}}, options), 0);
}

TEST(RoundDeltaTest, WhatFailedOrHasNoLatencyIsLeftOut) {
  const std::vector<ParallelMeasurement> round = {
      {100, 1}, {200, 1}, {400, 1}, {kNaN, 1}, {0, 1}};
  const std::vector<Remeasurement> remeasured = {
      {0, 90}, {1, kInfinity}, {2, kNaN}, {3, 10}, {4, 10}};
  EXPECT_DOUBLE_EQ(*RoundDelta(round, remeasured, {}), 0.1);
  EXPECT_EQ(RoundDelta(round, remeasured, CalibratorOptions::AsPublished()),
            std::nullopt);
  EXPECT_EQ(RoundDelta(round, {{1, kInfinity}}, {}), std::nullopt);
  EXPECT_EQ(RoundDelta(round, {}, {}), std::nullopt);
  EXPECT_EQ(RoundDelta({}, {}, {}), std::nullopt);
}

TEST(CalibrateTest, BelowTheLimitTheOthersAreScaled) {
  const std::vector<CalibratedLatency> calibrated =
      Calibrate({{100, 1}, {200, 1}, {400, 1}}, {{1, 150}}, 0.2, {});
  ASSERT_THAT(calibrated, SizeIs(3));
  EXPECT_DOUBLE_EQ(calibrated[0].latency_ns, 80);
  EXPECT_DOUBLE_EQ(calibrated[0].scale, 0.8);
  EXPECT_FALSE(calibrated[0].remeasured);
  EXPECT_EQ(calibrated[1].latency_ns, 150);
  EXPECT_EQ(calibrated[1].scale, 1);
  EXPECT_TRUE(calibrated[1].remeasured);
  EXPECT_DOUBLE_EQ(calibrated[2].latency_ns, 320);
}

TEST(CalibrateTest, FromTheLimitOnOrWithoutADeltaNothingIsScaled) {
  for (const std::optional<double> delta :
       {std::optional<double>(0.25), std::optional<double>(0.9),
        std::optional<double>()}) {
    const std::vector<CalibratedLatency> calibrated =
        Calibrate({{100, 1}, {200, 1}}, {{1, 150}}, delta, {});
    EXPECT_EQ(calibrated[0].latency_ns, 100);
    EXPECT_EQ(calibrated[0].scale, 1);
    EXPECT_EQ(calibrated[1].latency_ns, 150);
  }
}

// Equation 5 without a limit: two thirds are taken off. A delta of 1 and more
// would leave no latency.
TEST(CalibrateTest, AsInThePaperThereIsNoLimit) {
  CalibratorOptions options;
  options.scaling_limit = kInfinity;
  EXPECT_DOUBLE_EQ(Calibrate({{300, 1}}, {}, 2.0 / 3, options)[0].latency_ns,
                   100);
  for (const double delta : {1.0, 1.5}) {
    EXPECT_EQ(Calibrate({{300, 1}}, {}, delta, options)[0].latency_ns, 300);
  }
}

TEST(CalibrateTest, ARepeatedValueReplacesAlsoAFasterOne) {
  EXPECT_EQ(Calibrate({{100, 1}}, {{0, 110}}, 0.1, {})[0].latency_ns, 110);
  const CalibratedLatency published = Calibrate(
      {{100, 1}}, {{0, 110}}, 0.1, CalibratorOptions::AsPublished())[0];
  EXPECT_DOUBLE_EQ(published.latency_ns, 90);
  EXPECT_FALSE(published.remeasured);
}

TEST(CalibrateTest, WhatFailedAloneKeepsItsParallelValue) {
  const std::vector<CalibratedLatency> calibrated =
      Calibrate({{100, 1}, {200, 1}}, {{0, kInfinity}, {1, kNaN}}, {}, {});
  EXPECT_EQ(calibrated[0].latency_ns, 100);
  EXPECT_FALSE(calibrated[0].remeasured);
  EXPECT_EQ(calibrated[1].latency_ns, 200);
  EXPECT_THAT(Calibrate({}, {}, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace tilewright::measure

#include "measure/parallel/adaptive_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

AdaptiveEvaluatorOptions InTwos(int max_repeats) {
  AdaptiveEvaluatorOptions options;
  options.max_repeats = max_repeats;
  options.micro_batch = 2;
  return options;
}

// Feeds micro-batches whose executions all take batch_ns[i] until it stops.
int RepeatsUsed(AdaptiveEvaluator& evaluator,
                const std::vector<double>& batch_ns) {
  int used = 0;
  for (size_t i = 0; const int repeats = evaluator.NextRepeats(); ++i) {
    const std::vector<double> latencies(
        static_cast<size_t>(repeats),
        batch_ns[std::min(i, batch_ns.size() - 1)]);
    TW_EXPECT_OK(evaluator.Add(latencies));
    used += repeats;
  }
  return used;
}

// Micro-batches of two; Time = 4, 6, 8 after each. Perf_1..3, in executions per
// ns: 2/4, 4/6, 6/8 = 6/12, 8/12, 9/12, mean 23/36; deviations -5, 1, 4 in
// 36ths, std = sqrt(42 / 3) / 36, CV = sqrt(14) / 23 = 0.16268.
TEST(AdaptiveEvaluatorTest, ThreeMicroBatchesOfCumulativePerformanceByHand) {
  AdaptiveEvaluator evaluator(InTwos(6));
  EXPECT_TRUE(std::isnan(evaluator.variation()));
  TW_ASSERT_OK(evaluator.Add({3, 1}));
  EXPECT_EQ(evaluator.variation(), 0);
  TW_ASSERT_OK(evaluator.Add({1, 1}));
  // 3/6 and 4/6: mean 7/12, std 1/12.
  EXPECT_DOUBLE_EQ(evaluator.variation(), 1.0 / 7);
  TW_ASSERT_OK(evaluator.Add({1, 1}));
  EXPECT_DOUBLE_EQ(evaluator.variation(), std::sqrt(14.0) / 23);
  EXPECT_EQ(evaluator.NextRepeats(), 0);
  EXPECT_FALSE(evaluator.stopped_early());
  EXPECT_DOUBLE_EQ(evaluator.latency_ns(), 8.0 / 6);
  EXPECT_EQ(evaluator.latencies_ns(), (std::vector<double>{3, 1, 1, 1, 1, 1}));
}

// The same three micro-batches, then one more of 1 ns each: Perf_4 = 8/10, and
// in 60ths 30 40 45 48: mean 163/4, squares of the deviations from it 115.5625,
// 0.5625, 18.0625, 52.5625 sum to 186.75, CV = sqrt(186.75 / 4) / 40.75 =
// 0.16768.
TEST(AdaptiveEvaluatorTest, AFourthMicroBatchByHand) {
  AdaptiveEvaluator evaluator(InTwos(100));
  TW_ASSERT_OK(evaluator.Add({3, 1}));
  TW_ASSERT_OK(evaluator.Add({1, 1}));
  TW_ASSERT_OK(evaluator.Add({1, 1}));
  ASSERT_EQ(evaluator.NextRepeats(), 2);
  TW_ASSERT_OK(evaluator.Add({1, 1}));
  EXPECT_DOUBLE_EQ(evaluator.variation(), std::sqrt(186.75 / 4) / 40.75);
}

TEST(AdaptiveEvaluatorTest, NeverStopsBeforeThreeMicroBatches) {
  AdaptiveEvaluator steady(AdaptiveEvaluatorOptions::AsInPaper());
  EXPECT_EQ(RepeatsUsed(steady, {7}), 150);
  EXPECT_TRUE(steady.stopped_early());
  EXPECT_EQ(steady.variation(), 0);
  EXPECT_EQ(steady.latency_ns(), 7);
}

// One of 30 executions takes three times as long as the others: the mean of a
// micro-batch is 1.2 where the others have 1. Perf_1..3 is 1, 1, 30/32, CV
// 0.0301; with a fourth micro-batch of 1 it is 1, 1, 30/32, 40/42, CV 0.0288.
TEST(AdaptiveEvaluatorTest, ByDefaultOneOutlierIsEnoughToGoOn) {
  AdaptiveEvaluator steady({});
  EXPECT_EQ(RepeatsUsed(steady, {1}), 30);
  AdaptiveEvaluator disturbed({});
  EXPECT_EQ(RepeatsUsed(disturbed, {1, 1, 1.2, 1}), 40);
  EXPECT_TRUE(disturbed.stopped_early());
  AdaptiveEvaluator paper(AdaptiveEvaluatorOptions::AsInPaper());
  EXPECT_EQ(RepeatsUsed(paper, {1, 1, 1.2, 1}), 150);
}

// After a very slow first micro-batch Time(i) hardly grows, so that Perf_i does
// as i: 1 2 3 ... 10. For the first i of them CV = sqrt((i - 1) / (3 (i + 1))):
// 0.33 for two, more for more.
TEST(AdaptiveEvaluatorTest, AnUnsteadyCandidateUsesAllRepeats) {
  AdaptiveEvaluator evaluator(AdaptiveEvaluatorOptions::AsInPaper());
  EXPECT_EQ(RepeatsUsed(evaluator, {1e3, 1e-6}), 500);
  EXPECT_FALSE(evaluator.stopped_early());
  EXPECT_GT(evaluator.variation(), 0.1);
}

// The first micro-batch twice as slow as all others (a cold start): Perf_i =
// i / (i + 1). In 12ths after three: 6 8 9, as above, CV 0.163. In 60ths after
// four 0.168, after five 30 40 45 48 50: mean 42.6, squares 158.76 6.76 5.76
// 29.16 54.76 sum to 255.2, CV = sqrt(51.04) / 42.6 = 0.168. It falls slowly;
// the first one alone stays out of reach of the others.
TEST(AdaptiveEvaluatorTest, AColdStartIsOutlived) {
  AdaptiveEvaluatorOptions options = AdaptiveEvaluatorOptions::AsInPaper();
  options.threshold = 0.1675;
  AdaptiveEvaluator evaluator(options);
  EXPECT_EQ(RepeatsUsed(evaluator, {2, 1}), 150);
  options.threshold = 0.1;
  AdaptiveEvaluator strict(options);
  EXPECT_EQ(RepeatsUsed(strict, {2, 1}), 500);
}

TEST(AdaptiveEvaluatorTest, TheLastMicroBatchMayBeSmaller) {
  AdaptiveEvaluator evaluator(InTwos(5));
  TW_ASSERT_OK(evaluator.Add({1, 1}));
  TW_ASSERT_OK(evaluator.Add({9, 9}));
  EXPECT_EQ(evaluator.NextRepeats(), 1);
  TW_ASSERT_OK(evaluator.Add({5}));
  EXPECT_EQ(evaluator.NextRepeats(), 0);
  EXPECT_EQ(evaluator.latency_ns(), 5);
}

TEST(AdaptiveEvaluatorTest, FixedRepeatsNeverStopEarly) {
  AdaptiveEvaluator evaluator(AdaptiveEvaluatorOptions::Fixed(500));
  EXPECT_EQ(RepeatsUsed(evaluator, {7}), 500);
  AdaptiveEvaluator few(AdaptiveEvaluatorOptions::Fixed(3));
  EXPECT_EQ(RepeatsUsed(few, {7}), 3);
}

// The code's variant, by hand. Micro-batches of 50 taking 2 and then 1 ns each:
// performance 1/2 1 1 has mean 5/6, std sqrt(1/18), CV 0.283; with four 0.247;
// with five the best and the worst go and 1 1 1 does not vary.
TEST(AdaptiveEvaluatorTest, PerMicroBatchAsPublished) {
  AdaptiveEvaluator evaluator(AdaptiveEvaluatorOptions::AsPublished());
  EXPECT_EQ(RepeatsUsed(evaluator, {2, 1}), 250);
  EXPECT_TRUE(evaluator.stopped_early());
  EXPECT_EQ(evaluator.variation(), 0);
  // The largest and a smallest of the means 2 1 1 1 1 are left out.
  EXPECT_EQ(evaluator.latency_ns(), 1);
}

TEST(AdaptiveEvaluatorTest, PerMicroBatchIsFixedBelow300Repeats) {
  AdaptiveEvaluatorOptions options = AdaptiveEvaluatorOptions::AsPublished();
  options.max_repeats = 299;
  AdaptiveEvaluator small(options);
  EXPECT_EQ(RepeatsUsed(small, {7}), 299);
  options.max_repeats = 300;
  AdaptiveEvaluator large(options);
  EXPECT_EQ(RepeatsUsed(large, {7}), 150);
}

TEST(AdaptiveEvaluatorTest, AClockThatSeesNothingNeverStopsEarly) {
  AdaptiveEvaluator evaluator(InTwos(20));
  EXPECT_EQ(RepeatsUsed(evaluator, {0}), 20);
  EXPECT_TRUE(std::isnan(evaluator.variation()));
  EXPECT_EQ(evaluator.latency_ns(), 0);
}

TEST(AdaptiveEvaluatorTest, WhatIsNoMicroBatchIsRefusedAndNotAdded) {
  AdaptiveEvaluator evaluator(InTwos(4));
  EXPECT_THAT(evaluator.Add({1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "of 2 latencies"));
  for (const double bad : {kNaN, kInfinity, -1.0}) {
    EXPECT_THAT(evaluator.Add({1, bad}),
                StatusIs(absl::StatusCode::kInvalidArgument, "a latency is"))
        << bad;
  }
  EXPECT_EQ(evaluator.NextRepeats(), 2);
  EXPECT_TRUE(evaluator.latencies_ns().empty());
  TW_EXPECT_OK(evaluator.Add({1, 1}));
  TW_EXPECT_OK(evaluator.Add({1, 1}));
  EXPECT_THAT(evaluator.Add({1, 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "of 0 latencies"));
}

// 20 ms each, as the clock sees them, in half a second.
TEST(AdaptiveEvaluatorTest, NothingBeginsOnceTheTimeIsOver) {
  AdaptiveEvaluatorOptions options = AdaptiveEvaluatorOptions::Fixed(500);
  options.micro_batch = 50;
  options.most_seconds = 0.5;
  FakeClock clock;
  AdaptiveEvaluator evaluator(options, &clock);
  ASSERT_EQ(evaluator.NextRepeats(), options.micro_batch);
  std::vector<double> batch;
  while (static_cast<int>(batch.size()) < evaluator.NextRepeats() &&
         !evaluator.IsTimeOver(static_cast<int>(batch.size()))) {
    clock.AdvanceBusy(20'000'000);
    batch.push_back(20e6);
  }
  EXPECT_EQ(batch.size(), 25);
  TW_EXPECT_OK(evaluator.Add(batch));
  EXPECT_EQ(evaluator.NextRepeats(), 0);
  EXPECT_TRUE(evaluator.stopped_early());
  EXPECT_EQ(evaluator.latency_ns(), 20e6);
}

TEST(AdaptiveEvaluatorTest, AFewExecutionsAreHadWhateverTheyTake) {
  AdaptiveEvaluatorOptions options;
  options.most_seconds = 0.5;
  options.min_repeats = 3;
  FakeClock clock;
  AdaptiveEvaluator evaluator(options, &clock);
  clock.AdvanceBusy(1'000'000'000);
  EXPECT_FALSE(evaluator.IsTimeOver(2));
  EXPECT_TRUE(evaluator.IsTimeOver(3));
  TW_EXPECT_OK(evaluator.Add({1e9, 1e9, 1e9}));
  EXPECT_EQ(evaluator.NextRepeats(), 0);
}

// Between micro-batches too; one that is cut short needs a reason.
TEST(AdaptiveEvaluatorTest, WhatIsTooSlowIsGivenUpAfterOne) {
  AdaptiveEvaluatorOptions options;
  options.give_up_above_ns = 100;
  AdaptiveEvaluator evaluator(options);
  EXPECT_TRUE(evaluator.IsTooSlow({101}));
  EXPECT_FALSE(evaluator.IsTooSlow({101, 100}));
  EXPECT_FALSE(evaluator.Add({100}).ok());  // not too slow: a batch is due
  TW_ASSERT_OK(evaluator.Add({101}));
  EXPECT_EQ(evaluator.NextRepeats(), 0);
  EXPECT_TRUE(evaluator.stopped_early());
  EXPECT_EQ(evaluator.latency_ns(), 101);
}

// One execution that is fast enough is proof that it is not too slow.
TEST(AdaptiveEvaluatorTest, WhatIsSlowAtTimesIsNotGivenUp) {
  AdaptiveEvaluatorOptions options = InTwos(6);
  options.give_up_above_ns = 100;
  AdaptiveEvaluator evaluator(options);
  TW_ASSERT_OK(evaluator.Add({500, 99}));
  EXPECT_FALSE(evaluator.IsTooSlow({500}));
  EXPECT_EQ(evaluator.NextRepeats(), 2);
}

TEST(AdaptiveEvaluatorTest, TheTimeEndsWithAMicroBatch) {
  AdaptiveEvaluatorOptions options = InTwos(20);
  options.threshold = 0;
  options.most_seconds = 1;
  FakeClock clock;
  AdaptiveEvaluator evaluator(options, &clock);
  EXPECT_THAT(evaluator.Add({1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "of 2 latencies"));
  TW_EXPECT_OK(evaluator.Add({1, 2}));
  TW_EXPECT_OK(evaluator.Add({2, 1}));
  EXPECT_EQ(evaluator.NextRepeats(), 2);
  clock.AdvanceIdle(1'000'000'000);
  TW_EXPECT_OK(evaluator.Add({1, 2}));
  EXPECT_EQ(evaluator.NextRepeats(), 0);
}

}  // namespace
}  // namespace tilewright::measure

// Tests what AsInPaper() does differently, one option after the other.

#include "measure/parallel/parallel_measurer_options.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/scripted_pool.h"
#include "measure/record/record.pb.h"
#include "measure/record/test_records.h"
#include "measure/stats/latency_summary.h"

namespace tilewright::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<RoundReport> Rounds(ScriptedPool& pool,
                                const ParallelMeasurerOptions& options,
                                std::vector<Measurement>* results) {
  ParallelMeasurer measurer(&pool, options);
  std::vector<RoundReport> rounds;
  measurer.set_on_round(
      [&](const RoundReport& round) { rounds.push_back(round); });
  absl::StatusOr<std::vector<Measurement>> measured =
      measurer.Measure(KeyOfText("w"), pool.AllSchedules());
  TW_EXPECT_OK(measured);
  if (measured.ok()) *results = *std::move(measured);
  return rounds;
}

TEST(AsInPaperTest, NothingIsPreparedAhead) {
  ParallelMeasurerOptions options = ParallelMeasurerOptions::AsInPaper();
  options.react.initial_degree = options.react.max_degree = 2;
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(9));
  std::vector<Measurement> results;
  Rounds(pool, options, &results);
  EXPECT_EQ(pool.most_under_way, 2);
}

TEST(AsInPaperTest, RoundsThatAreNotFullRaiseTheDegree) {
  ParallelMeasurerOptions options = ParallelMeasurerOptions::AsInPaper();
  options.react.initial_degree = 4;
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(4));
  ParallelMeasurer measurer(&pool, options);
  std::vector<int> degrees;
  measurer.set_on_round(
      [&](const RoundReport& round) { degrees.push_back(round.degree); });
  for (int batch = 0; batch < 3; ++batch) {
    TW_ASSERT_OK(measurer.Measure(KeyOfText("w"), pool.AllSchedules()));
  }
  EXPECT_THAT(degrees, ElementsAre(4, 10, 13));
}

// One at a time: each is repeated, and what failed is tried once more.
TEST(AsInPaperTest, WhatWasNotDisturbedIsRepeatedToo) {
  std::vector<ScriptedCandidate> script(3);
  script[1].alone = Measurement::TIMEOUT;
  ParallelMeasurerOptions options = ParallelMeasurerOptions::AsInPaper();
  options.react.initial_degree = options.react.max_degree = 1;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, options, &results);
  ASSERT_THAT(rounds, SizeIs(3));
  EXPECT_EQ(rounds[0].repeated, 1);
  EXPECT_THAT(pool.measured, ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_TRUE(results[0].method().remeasured());
  EXPECT_EQ(results[1].outcome(), Measurement::TIMEOUT);
}

// Executions of 1000, 1000 and 4000 ns: the mean is 2000. Alone all take 1000,
// so that delta is 1/2; the other three are halved, beyond any limit.
TEST(AsInPaperTest, MeansAreScaledWithoutALimit) {
  std::vector<ScriptedCandidate> script(4);
  for (ScriptedCandidate& candidate : script) {
    candidate.in_parallel_samples_ns = {1000, 1000, 4000};
  }
  ParallelMeasurerOptions options = ParallelMeasurerOptions::AsInPaper();
  options.repeats = AdaptiveEvaluatorOptions::Fixed(3);
  options.react.initial_degree = 4;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, options, &results);
  ASSERT_THAT(rounds, SizeIs(1));
  EXPECT_EQ(rounds[0].repeated, 1);
  EXPECT_DOUBLE_EQ(rounds[0].delta, 0.5);
  for (const Measurement& result : results) {
    EXPECT_DOUBLE_EQ(result.latency().mean_ns(), 1000);
  }
  // Their medians saw nothing.
  options.compared = Compared::kMedian;
  ScriptedPool other(16, script);
  EXPECT_EQ(Rounds(other, options, &results)[0].delta, 0);
}

// Equation 2 with G = 4: 40 tanh(0.015 * 16 * 4) = 29.8, 40 tanh(0.06) = 2.4.
TEST(ParallelMeasurerOptionsTest, DevicesOfOneHostHaveMoreTimeForProgress) {
  for (const auto& [devices, timeout_s] : {std::pair{1, 9}, std::pair{4, 20}}) {
    ParallelMeasurerOptions options;
    options.react.initial_degree = 16;
    options.devices = devices;
    ScriptedPool pool(16, std::vector<ScriptedCandidate>(16));
    std::vector<Measurement> results;
    Rounds(pool, options, &results);
    EXPECT_EQ(pool.timeouts_s[0], timeout_s) << devices << " devices";
    EXPECT_EQ(pool.timeouts_s.back(), 4) << "alone";
  }
}

// Algorithm 2 to the letter: floor(8 * 0.8) + 2, though every round is far off.
TEST(AsInPaperTest, ARoundThatDecreasesAlsoIncreases) {
  std::vector<ScriptedCandidate> script(24);
  for (ScriptedCandidate& candidate : script) candidate.in_parallel_ns = 3000;
  ParallelMeasurerOptions options = ParallelMeasurerOptions::AsInPaper();
  options.react.initial_degree = 8;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  std::vector<int> degrees;
  for (const RoundReport& round : Rounds(pool, options, &results)) {
    degrees.push_back(round.degree);
  }
  EXPECT_THAT(degrees, ElementsAre(8, 8, 8));
  options.react.increase_after_decrease = false;
  ScriptedPool other(16, script);
  degrees.clear();
  for (const RoundReport& round : Rounds(other, options, &results)) {
    degrees.push_back(round.degree);
  }
  EXPECT_THAT(degrees, ElementsAre(8, 6, 4, 3, 2, 1));
}

}  // namespace
}  // namespace tilewright::measure

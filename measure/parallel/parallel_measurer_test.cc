#include "measure/parallel/parallel_measurer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/cancellation.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/parallel/measurer.h"
#include "measure/parallel/scripted_pool.h"
#include "measure/record/check_record.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

// Degree 4 from the start, three executions; alone as many.
ParallelMeasurerOptions FourAtATime() {
  ParallelMeasurerOptions options;
  options.repeats = AdaptiveEvaluatorOptions::Fixed(3);
  options.react.initial_degree = 4;
  options.alone_share = 1;
  options.calibrator.smallest_sample = 1;
  options.repeat_promising = false;
  options.smallest_round = 1;
  return options;
}

std::vector<Measurement> Measure(ParallelMeasurer& measurer,
                                 const ScriptedPool& pool) {
  absl::StatusOr<std::vector<Measurement>> results =
      measurer.Measure(KeyOfText("w"), pool.AllSchedules());
  TW_EXPECT_OK(results);
  return results.ok() ? *std::move(results) : std::vector<Measurement>();
}

std::vector<RoundReport> Rounds(ScriptedPool& pool,
                                const ParallelMeasurerOptions& options,
                                std::vector<Measurement>* results) {
  ParallelMeasurer measurer(&pool, options);
  std::vector<RoundReport> rounds;
  measurer.set_on_round(
      [&](const RoundReport& round) { rounds.push_back(round); });
  *results = Measure(measurer, pool);
  return rounds;
}

// Every measurement can become a record.
void ExpectValid(const std::vector<Measurement>& results) {
  for (const Measurement& result : results) {
    Record record = TestRecord("w", 1);
    *record.mutable_measurement() = result;
    TW_EXPECT_OK(CheckRecord(record));
  }
}

TEST(ParallelMeasurerTest, SerialMeasuresOneAfterTheOther) {
  std::vector<ScriptedCandidate> script(5);
  script[1].build = Measurement::BUILD_ERROR;
  script[2].alone = Measurement::RUN_ERROR;
  script[3].alone_ns = 700;
  ScriptedPool pool(8, script);
  ParallelMeasurerOptions options = FourAtATime();
  options.mode = MeasureMode::kSerial;
  ParallelMeasurer measurer(&pool, options);
  const std::vector<Measurement> results = Measure(measurer, pool);
  ASSERT_THAT(results, SizeIs(5));
  ExpectValid(results);
  EXPECT_EQ(pool.most_under_way, 1);
  EXPECT_THAT(pool.measured, ElementsAre(0, 2, 3, 4));
  EXPECT_EQ(results[1].outcome(), Measurement::BUILD_ERROR);
  EXPECT_EQ(results[2].outcome(), Measurement::RUN_ERROR);
  EXPECT_EQ(results[3].latency().median_ns(), 700);
  EXPECT_EQ(results[3].latency().n(), 3);
  EXPECT_EQ(results[3].method().degree_of_parallelism(), 1);
  EXPECT_EQ(results[3].method().timer(), Method::DEVICE_EVENTS);
  EXPECT_TRUE(results[3].verification().verified());
}

// Three executions of 2000 ns in 8000 ns by the host's clock.
TEST(ParallelMeasurerTest, NaiveTakesTheHostsClock) {
  std::vector<ScriptedCandidate> script(6);
  for (ScriptedCandidate& candidate : script) candidate.in_parallel_ns = 2000;
  ScriptedPool pool(8, script);
  ParallelMeasurerOptions options = FourAtATime();
  options.mode = MeasureMode::kNaive;
  options.naive_degree = 3;
  ParallelMeasurer measurer(&pool, options);
  const std::vector<Measurement> results = Measure(measurer, pool);
  ExpectValid(results);
  EXPECT_EQ(pool.most_measured, 3);
  EXPECT_DOUBLE_EQ(results[0].latency().median_ns(), 8000.0 / 3);
  EXPECT_EQ(results[0].method().timer(), Method::WALL_CLOCK);
  EXPECT_EQ(results[0].method().degree_of_parallelism(), 3);
}

// Rounds of 4, 10 (4 + 12 / 2) and the rest. Parallel values are 10 % too
// large: delta = 100 / 1100 > tau, so that the second round has floor(3.2).
TEST(ParallelMeasurerTest, ParallelValuesAreScaledByWhatTheSampleShows) {
  std::vector<ScriptedCandidate> script(7);
  for (ScriptedCandidate& candidate : script) candidate.in_parallel_ns = 1100;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, FourAtATime(), &results);
  ExpectValid(results);
  ASSERT_THAT(rounds, SizeIs(2));
  EXPECT_EQ(rounds[0].degree, 4);
  EXPECT_EQ(rounds[0].candidates, 4);
  EXPECT_EQ(rounds[0].repeated, 1);
  EXPECT_DOUBLE_EQ(rounds[0].delta, 100.0 / 1100);
  EXPECT_EQ(rounds[1].degree, 3);
  int remeasured = 0;
  for (const Measurement& result : results) {
    EXPECT_DOUBLE_EQ(result.latency().median_ns(), 1000);
    EXPECT_DOUBLE_EQ(result.method().delta(), 100.0 / 1100);
    remeasured += result.method().remeasured();
    EXPECT_EQ(result.method().degree_of_parallelism() == 1,
              result.method().remeasured());
  }
  EXPECT_EQ(remeasured, 2);
}

TEST(ParallelMeasurerTest, AccurateRoundsRaiseTheDegree) {
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(27));
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, FourAtATime(), &results);
  ASSERT_THAT(rounds, SizeIs(3));
  EXPECT_EQ(rounds[1].degree, 10);  // 4 + (16 - 4) / 2
  EXPECT_EQ(rounds[2].degree, 13);  // 10 + (16 - 10) / 2
  EXPECT_EQ(pool.most_measured, 13);
  EXPECT_EQ(pool.most_under_way, 16);
}

// Three times too large: delta = 2/3, and no mean says anything about one.
TEST(ParallelMeasurerTest, ARoundThatCannotBeScaledIsRepeated) {
  std::vector<ScriptedCandidate> script(4);
  for (ScriptedCandidate& candidate : script) candidate.in_parallel_ns = 3000;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  std::vector<RoundReport> rounds = Rounds(pool, FourAtATime(), &results);
  EXPECT_EQ(rounds[0].repeated, 4);
  for (const Measurement& result : results) {
    EXPECT_EQ(result.latency().median_ns(), 1000);
  }
  // As in the paper they stay as they are.
  ParallelMeasurerOptions options = FourAtATime();
  options.repeat_unscalable = false;
  ScriptedPool other(16, script);
  rounds = Rounds(other, options, &results);
  EXPECT_EQ(rounds[0].repeated, 1);
  int large = 0;
  for (const Measurement& result : results) {
    large += result.latency().median_ns() == 3000;
  }
  EXPECT_EQ(large, 3);
}

// Candidate 5 looks slower than the best, 0, but were it four times as fast, it
// would be the best; 4, 6 and 7 would not.
TEST(ParallelMeasurerTest, WhatMayBeTheBestIsRepeated) {
  std::vector<ScriptedCandidate> script(8);
  for (ScriptedCandidate& candidate : script) {
    candidate.alone_ns = candidate.in_parallel_ns = 50'000;
  }
  script[0].alone_ns = script[0].in_parallel_ns = 1000;
  script[5].alone_ns = 900;
  script[5].in_parallel_ns = 3600;
  ParallelMeasurerOptions options = FourAtATime();
  options.react.max_degree = 4;
  options.repeat_promising = true;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  Rounds(pool, options, &results);
  EXPECT_EQ(results[5].latency().median_ns(), 900);
  EXPECT_TRUE(results[5].method().remeasured());
}

// The second batch of a workload knows the first one's fastest; another
// workload knows nothing.
TEST(ParallelMeasurerTest, WhatIsTooSlowIsVerifiedByEarlierBatches) {
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(1));
  ParallelMeasurerOptions options = FourAtATime();
  options.give_up_factor = 4;
  ParallelMeasurer measurer(&pool, options);
  for (const char* const workload : {"w", "w", "v"}) {
    TW_ASSERT_OK(measurer.Measure(KeyOfText(workload), pool.AllSchedules()));
  }
  constexpr double kNone = std::numeric_limits<double>::infinity();
  EXPECT_THAT(pool.give_up_above_ns, ElementsAre(kNone, 4000, kNone));
}

TEST(ParallelMeasurerTest, FailuresOfTheParallelismAreFoundAndCounted) {
  std::vector<ScriptedCandidate> script(4);
  script[0].in_parallel = Measurement::OUT_OF_MEMORY;  // not alone
  script[1].in_parallel = script[1].alone = Measurement::RUN_ERROR;
  script[2].in_parallel = script[2].alone = Measurement::WRONG_ANSWER;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, FourAtATime(), &results);
  ExpectValid(results);
  EXPECT_EQ(rounds[0].failures, 1);
  EXPECT_EQ(results[0].outcome(), Measurement::OK);
  EXPECT_TRUE(results[0].method().remeasured());
  EXPECT_EQ(results[1].outcome(), Measurement::RUN_ERROR);
  EXPECT_EQ(results[1].message(), "as the script says");
  EXPECT_EQ(results[2].outcome(), Measurement::WRONG_ANSWER);
  EXPECT_EQ(results[3].outcome(), Measurement::OK);
  // 0 and 1 again, but not 2; 3 as the sample.
  EXPECT_THAT(pool.measured, ElementsAre(0, 1, 2, 3, 0, 1, 3));
}

TEST(ParallelMeasurerTest, AloneThereIsNothingToRepeat) {
  std::vector<ScriptedCandidate> script(3);
  script[1].alone = Measurement::TIMEOUT;
  ParallelMeasurerOptions options = FourAtATime();
  options.react.initial_degree = options.react.max_degree = 1;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, options, &results);
  ASSERT_THAT(rounds, SizeIs(3));
  for (const RoundReport& round : rounds) EXPECT_EQ(round.repeated, 0);
  EXPECT_THAT(pool.measured, ElementsAre(0, 1, 2));
  EXPECT_EQ(pool.most_under_way, 3);
  EXPECT_EQ(results[0].method().degree_of_parallelism(), 1);
  EXPECT_FALSE(results[0].method().remeasured());
}

TEST(ParallelMeasurerTest, TheDegreeIsRememberedByWorkload) {
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(4));
  ParallelMeasurer measurer(&pool, FourAtATime());
  std::vector<int> degrees;
  measurer.set_on_round(
      [&](const RoundReport& round) { degrees.push_back(round.degree); });
  for (const char* const workload : {"w", "w", "v"}) {
    TW_ASSERT_OK(measurer.Measure(KeyOfText(workload), pool.AllSchedules()));
  }
  EXPECT_THAT(degrees, ElementsAre(4, 10, 4));
}

TEST(ParallelMeasurerTest, SmallDegreesHaveLargerRounds) {
  ParallelMeasurerOptions options = FourAtATime();
  options.react.initial_degree = options.react.max_degree = 2;
  options.smallest_round = 6;
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(12));
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, options, &results);
  ASSERT_THAT(rounds, SizeIs(2));
  for (const RoundReport& round : rounds) {
    EXPECT_EQ(round.candidates, 6);
    EXPECT_EQ(round.repeated, 2);  // a fifth
  }
  EXPECT_EQ(pool.most_measured, 2);
}

// Until eight were repeated they may be twice as fast as they look.
TEST(ParallelMeasurerTest, WhatOthersDoNotDisturbIsNotRepeated) {
  std::vector<ScriptedCandidate> script(40);
  for (ScriptedCandidate& candidate : script) {
    candidate.alone_ns = 1500;
    candidate.in_parallel_ns = 1530;
  }
  script[0].alone_ns = script[0].in_parallel_ns = 1000;
  ParallelMeasurerOptions options = FourAtATime();
  options.react.initial_degree = options.react.max_degree = 2;
  options.smallest_round = 10;
  options.repeat_promising = true;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  const std::vector<RoundReport> rounds = Rounds(pool, options, &results);
  ASSERT_THAT(rounds, SizeIs(4));
  EXPECT_EQ(rounds[0].repeated, 10);
  for (size_t i = 1; i < rounds.size(); ++i) {
    EXPECT_EQ(rounds[i].repeated, 2) << i;
  }
}

TEST(ParallelMeasurerTest, WhatThePoolBlamesIsNotRepeated) {
  std::vector<ScriptedCandidate> script(3);
  script[0].in_parallel = script[0].alone = Measurement::RUN_ERROR;
  script[0].blamed = true;
  ScriptedPool pool(16, script);
  std::vector<Measurement> results;
  Rounds(pool, FourAtATime(), &results);
  EXPECT_EQ(results[0].outcome(), Measurement::RUN_ERROR);
  EXPECT_EQ(std::count(pool.measured.begin(), pool.measured.end(), 0), 1);
}

// The second round has 4 candidates for 10 places: no reason to try 13.
TEST(ParallelMeasurerTest, ARoundThatIsNotFullProvesNothing) {
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(4));
  ParallelMeasurer measurer(&pool, FourAtATime());
  std::vector<int> degrees;
  measurer.set_on_round(
      [&](const RoundReport& round) { degrees.push_back(round.degree); });
  for (int batch = 0; batch < 3; ++batch) {
    TW_ASSERT_OK(measurer.Measure(KeyOfText("w"), pool.AllSchedules()));
  }
  EXPECT_THAT(degrees, ElementsAre(4, 10, 10));
}

// Degree 4, rounds of 6: 5 candidates are too few.
TEST(ParallelMeasurerTest, NorDoesOneWithFewerCandidatesThanItAsksFor) {
  ParallelMeasurerOptions options = FourAtATime();
  options.smallest_round = 6;
  for (const int candidates : {5, 6}) {
    const auto n = static_cast<size_t>(candidates);
    ScriptedPool pool(16, std::vector<ScriptedCandidate>(n));
    ParallelMeasurer measurer(&pool, options);
    std::vector<int> degrees;
    measurer.set_on_round(
        [&](const RoundReport& round) { degrees.push_back(round.degree); });
    for (int batch = 0; batch < 2; ++batch) {
      TW_ASSERT_OK(measurer.Measure(KeyOfText("w"), pool.AllSchedules()));
    }
    EXPECT_THAT(degrees, ElementsAre(4, candidates == 5 ? 4 : 10));
  }
}

TEST(ParallelMeasurerTest, TimeoutsGrowWithTheDegree) {
  ParallelMeasurerOptions options = FourAtATime();
  options.react.initial_degree = options.react.max_degree = 16;
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(16));
  std::vector<Measurement> results;
  Rounds(pool, options, &results);
  ASSERT_THAT(pool.timeouts_s, SizeIs(20));  // 16, and 4 of them alone
  EXPECT_EQ(pool.timeouts_s[0], 9);
  EXPECT_EQ(pool.timeouts_s[19], 4);
}

TEST(ParallelMeasurerTest, AllMayFail) {
  std::vector<ScriptedCandidate> script(6);
  for (ScriptedCandidate& candidate : script) {
    candidate.alone = candidate.in_parallel = Measurement::TIMEOUT;
  }
  script[4].build = Measurement::BUILD_ERROR;
  for (const MeasureMode mode :
       {MeasureMode::kSerial, MeasureMode::kNaive, MeasureMode::kPrecise}) {
    ParallelMeasurerOptions options = FourAtATime();
    options.mode = mode;
    ScriptedPool pool(16, script);
    ParallelMeasurer measurer(&pool, options);
    const std::vector<Measurement> results = Measure(measurer, pool);
    ExpectValid(results);
    EXPECT_EQ(results[0].outcome(), Measurement::TIMEOUT);
    EXPECT_EQ(results[4].outcome(), Measurement::BUILD_ERROR);
  }
}

TEST(ParallelMeasurerTest, AloneMeasuresOneAfterTheOther) {
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(5));
  ParallelMeasurer measurer(&pool, FourAtATime());
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      measurer.MeasureAlone(KeyOfText("w"), pool.AllSchedules()));
  EXPECT_THAT(results, SizeIs(5));
  EXPECT_EQ(pool.most_measured, 1);
}

TEST(ParallelMeasurerTest, ABrokenPoolIsAnError) {
  ScriptedPool pool(16, std::vector<ScriptedCandidate>(5));
  pool.Break();
  ParallelMeasurer measurer(&pool, FourAtATime());
  EXPECT_THAT(measurer.Measure(KeyOfText("w"), pool.AllSchedules()),
              StatusIs(absl::StatusCode::kUnavailable));
}

// Which of a batch have their results, and how many were measured by then.
struct Heard {
  std::vector<int> order, measured_before;
  std::vector<Measurement> measurements;
};

MeasureOptions Hearing(Heard& heard, const ScriptedPool& pool) {
  MeasureOptions options;
  options.on_result = [&heard, &pool](int index, const Measurement& result) {
    heard.order.push_back(index);
    heard.measured_before.push_back(static_cast<int>(pool.measured.size()));
    heard.measurements.push_back(result);
  };
  return options;
}

void ExpectSame(const Heard& heard, const std::vector<Measurement>& results) {
  ASSERT_EQ(heard.order.size(), results.size());
  for (size_t i = 0; i < heard.order.size(); ++i) {
    EXPECT_EQ(heard.measurements[i].SerializeAsString(),
              results[static_cast<size_t>(heard.order[i])].SerializeAsString());
  }
}

TEST(ParallelMeasurerTest, AloneEachResultIsHeardOfBeforeTheNextBegins) {
  std::vector<ScriptedCandidate> script(5);
  script[3].build = Measurement::BUILD_ERROR;
  script[1].alone = Measurement::RUN_ERROR;
  ScriptedPool pool(8, script);
  ParallelMeasurerOptions options = FourAtATime();
  options.mode = MeasureMode::kSerial;
  options.overlap_builds = false;
  ParallelMeasurer measurer(&pool, options);
  Heard heard;
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                          measurer.Measure(KeyOfText("w"), pool.AllSchedules(),
                                           Hearing(heard, pool)));
  EXPECT_THAT(heard.order, ElementsAre(3, 0, 1, 2, 4));
  EXPECT_THAT(heard.measured_before, ElementsAre(0, 1, 2, 3, 4));
  ExpectSame(heard, results);
}

// Rounds of 4 and 3, whose values are scaled at their end.
TEST(ParallelMeasurerTest, InRoundsResultsAreHeardOfWhenTheyAreFinal) {
  std::vector<ScriptedCandidate> script(7);
  for (ScriptedCandidate& candidate : script) candidate.in_parallel_ns = 1100;
  ScriptedPool pool(16, script);
  ParallelMeasurer measurer(&pool, FourAtATime());
  int rounds = 0;
  size_t heard_by_first = 0;
  Heard heard;
  measurer.set_on_round([&](const RoundReport& round) {
    if (rounds++ == 0) heard_by_first = heard.order.size();
    EXPECT_GT(round.repeated, 0);
  });
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                          measurer.Measure(KeyOfText("w"), pool.AllSchedules(),
                                           Hearing(heard, pool)));
  EXPECT_EQ(heard_by_first, 4);
  ExpectSame(heard, results);
}

TEST(ParallelMeasurerTest, CancelledItKeepsWhatWasDone) {
  for (const MeasureMode mode : {MeasureMode::kSerial, MeasureMode::kPrecise}) {
    ScriptedPool pool(8, std::vector<ScriptedCandidate>(12));
    ParallelMeasurerOptions options = FourAtATime();
    options.mode = mode;
    ParallelMeasurer measurer(&pool, options);
    Cancellation cancellation;
    MeasureOptions how;
    how.cancellation = &cancellation;
    int heard = 0, done = 0;
    how.on_result = [&](int, const Measurement& result) {
      ++heard;
      done += result.outcome() == Measurement::OK;
      if (heard == 3) cancellation.Cancel();
    };
    TW_ASSERT_OK_AND_ASSIGN(
        const std::vector<Measurement> results,
        measurer.Measure(KeyOfText("w"), pool.AllSchedules(), how));
    ASSERT_THAT(results, SizeIs(12));
    EXPECT_EQ(heard, 12);
    EXPECT_GE(done, 3);
    EXPECT_LT(done, 12);
    for (const Measurement& result : results) {
      done -= result.outcome() == Measurement::OK;
      if (result.outcome() == Measurement::OK) continue;
      EXPECT_EQ(result.outcome(), Measurement::NOT_MEASURED);
      EXPECT_EQ(result.message(), "measuring was cancelled");
      Record record = TestRecord("w", 1);
      *record.mutable_measurement() = result;
      EXPECT_FALSE(CheckRecord(record).ok());
    }
    EXPECT_EQ(done, 0);
    EXPECT_EQ(pool.prepared_now(), 0);
    EXPECT_EQ(pool.pending_now(), 0);
    // The pool is as good as before.
    for (const Measurement& result : Measure(measurer, pool)) {
      EXPECT_EQ(result.outcome(), Measurement::OK);
    }
  }
}

TEST(ParallelMeasurerTest, WhatSpillsNeedNotBeMeasured) {
  std::vector<ScriptedCandidate> script(3);
  script[0].spills = 0;
  script[1].spills = 12;
  ScriptedPool pool(8, script);
  ParallelMeasurerOptions options = FourAtATime();
  ParallelMeasurer measurer(&pool, options);
  MeasureOptions how;
  how.wanted = [](int, const BuildReport& report) {
    return report.spills.value_or(0) < 10;
  };
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      measurer.Measure(KeyOfText("w"), pool.AllSchedules(), how));
  EXPECT_THAT(pool.measured, Not(Contains(1)));
  EXPECT_EQ(results[0].outcome(), Measurement::OK);
  EXPECT_TRUE(results[0].has_spills());
  EXPECT_EQ(results[1].outcome(), Measurement::NOT_MEASURED);
  EXPECT_EQ(results[1].spills(), 12);
  EXPECT_FALSE(results[2].has_spills());
}

}  // namespace
}  // namespace tilewright::measure

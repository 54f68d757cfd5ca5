#include "search/tuner.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/status_matchers.h"
#include "costmodel/forest_cost_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "measure/record/workload_key.h"
#include "search/evolution.h"
#include "search/prior_records.h"
#include "search/random_search.h"
#include "search/recorded_measurer.h"
#include "search/score_model.h"
#include "search/space.h"
#include "search/testing/landscape.h"

namespace tilewright::search {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using measure::Measurement;

constexpr absl::StatusCode kFailedPrecondition =
    absl::StatusCode::kFailedPrecondition;

measure::WorkloadKey Key() {
  measure::WorkloadKey key;
  key.set_text("made-up");
  key.set_fingerprint(Fingerprint::Of(key.text()).ToString());
  return key;
}

// One task of 1,000 candidates, searched by evolution with a forest.
struct Task {
  explicit Task(TunerOptions tuner_options = {},
                Landscape landscape = Cone({6, 2, 7}))
      : options(std::move(tuner_options)), measurer(std::move(landscape)) {}

  TunerOptions options;
  LandscapeMeasurer measurer;
  TaskSpace space = NumberSpace({9, 9, 9}, {5, 5, 5});
  Evolution method{EvolutionOptions()};
  ScoreModel model{std::make_unique<costmodel::ForestCostModel>([] {
    costmodel::ForestCostModelOptions forest;
    forest.forest.trees = 10;
    return forest;
  }())};

  Tuner MakeTuner() { return MakeTuner(measurer); }
  Tuner MakeTuner(measure::Measurer& by) {
    return Tuner({space, method, &model, 0, by, Key()}, options);
  }
};

TunerOptions Options(int trials, int batch, uint64_t seed = 1) {
  TunerOptions options;
  options.trials = trials;
  options.batch = batch;
  options.seed = seed;
  return options;
}

// "the device fails here" for those numbers.
void Fail(Measurement& measurement, Measurement::Outcome outcome,
          const std::string& message) {
  measurement.clear_latency();
  measurement.clear_verification();
  measurement.set_outcome(outcome);
  measurement.set_message(message);
  measurement.set_fault(Measurement::CANDIDATE);
}

TEST(TunerTest, MeasuresTheRulesFirstAndNothingTwice) {
  Task task(Options(60, 12));
  Tuner tuner = task.MakeTuner();
  TW_ASSERT_OK(tuner.Run());
  ASSERT_THAT(task.measurer.measured, SizeIs(60));
  EXPECT_THAT(task.measurer.measured[0], ElementsAre(5, 5, 5));
  const std::set<std::vector<int>> distinct(task.measurer.measured.begin(),
                                            task.measurer.measured.end());
  EXPECT_THAT(distinct, SizeIs(60));
  const TunerReport report = tuner.report();
  EXPECT_EQ(report.trials, 60);
  EXPECT_EQ(report.failed, 0);
  EXPECT_EQ(report.rules_ns, Cone({6, 2, 7})({5, 5, 5}));
  EXPECT_EQ(tuner.ended(), "60 trials");
  double best = 1e9;
  for (const std::vector<int>& numbers : task.measurer.measured)
    best = std::min(best, Cone({6, 2, 7})(numbers));
  EXPECT_EQ(report.best_ns, best);
  EXPECT_EQ(tuner.best()->ns, best);
}

TEST(TunerTest, SeedsAreMeasuredOnceAndFirst) {
  Task task(Options(20, 4));
  Tuner tuner = task.MakeTuner();
  for (const char* v0 : {"6", "6", "5"}) {
    TW_ASSERT_OK_AND_ASSIGN(Candidate seed,
                            task.space.FromAnswers("made-up", {{"v0", v0}}));
    tuner.AddSeed(std::move(seed));
  }
  TW_ASSERT_OK(tuner.Round());
  EXPECT_THAT(task.measurer.measured[0], ElementsAre(5, 5, 5));
  EXPECT_THAT(task.measurer.measured[1], ElementsAre(6, 5, 5));
  EXPECT_THAT(task.measurer.measured, SizeIs(4));
}

TEST(TunerTest, WithoutRulesTheirCandidateIsNotMeasured) {
  SpaceOptions options;
  options.use_rules = false;
  TaskSpace space = NumberSpace({999, 999}, {5, 5}, options);
  RandomSearch method;
  LandscapeMeasurer measurer(Cone({5, 5}));
  Tuner tuner({space, method, nullptr, 0, measurer, Key()}, Options(30, 10));
  TW_ASSERT_OK(tuner.Run());
  EXPECT_EQ(tuner.rules(), nullptr);
  EXPECT_THAT(measurer.measured, SizeIs(30));
}

TEST(TunerTest, EqualSeedsMeasureEqualCandidates) {
  Task a(Options(48, 12, 3)), b(Options(48, 12, 3)), c(Options(48, 12, 4));
  for (Task* task : {&a, &b, &c}) {
    Tuner tuner = task->MakeTuner();
    TW_ASSERT_OK(tuner.Run());
  }
  EXPECT_EQ(a.measurer.measured, b.measurer.measured);
  EXPECT_NE(a.measurer.measured, c.measurer.measured);
}

TEST(TunerTest, EndsAtItsWallTime) {
  FakeClock clock;
  TunerOptions options = Options(1000, 10);
  options.seconds = 2.5;
  options.clock = &clock;
  Task task(options);
  task.measurer.change = [&](const auto&, Measurement&) {
    clock.AdvanceIdle(100'000'000);
  };
  Tuner tuner = task.MakeTuner();
  TW_ASSERT_OK(tuner.Run());
  EXPECT_THAT(task.measurer.measured, SizeIs(30));  // after the third second
  EXPECT_EQ(tuner.ended(), "2.5 seconds");
  EXPECT_NEAR(tuner.report().measure_s, 3, 1e-9);
}

TEST(TunerTest, EndsWhenNothingFasterIsFound) {
  TunerOptions options = Options(500, 5);
  options.patience = 20;
  Task task(options, [](const auto&) { return 100.0; });
  Tuner tuner = task.MakeTuner();
  TW_ASSERT_OK(tuner.Run());
  // The first is the best; 20 after it, at the end of a batch.
  EXPECT_THAT(task.measurer.measured, SizeIs(25));
  EXPECT_THAT(tuner.ended(), HasSubstr("nothing faster"));
}

TEST(TunerTest, EndsWhenItIsCancelledAndKeepsWhatWasMeasured) {
  Cancellation cancellation;
  TunerOptions options = Options(500, 10);
  options.cancellation = &cancellation;
  Task task(options);
  task.measurer.change = [&](const auto&, Measurement& measurement) {
    if (task.measurer.measured.size() == 13) cancellation.Cancel();
    if (task.measurer.measured.size() <= 13) return;
    Fail(measurement, Measurement::NOT_MEASURED, "");
    measurement.clear_fault();
  };
  Tuner tuner = task.MakeTuner();
  TW_ASSERT_OK(tuner.Run());
  EXPECT_EQ(tuner.ended(), "cancelled");
  EXPECT_EQ(tuner.report().trials, 13);
  EXPECT_THAT(tuner.failures(), IsEmpty());
}

TEST(TunerTest, ASmallSpaceEndsWhenAllIsMeasured) {
  TaskSpace space = NumberSpace({2, 1});
  Evolution method{EvolutionOptions()};
  LandscapeMeasurer measurer(Cone({2, 0}));
  Tuner tuner({space, method, nullptr, 0, measurer, Key()}, Options(100, 4));
  TW_ASSERT_OK(tuner.Run());
  EXPECT_THAT(measurer.measured, SizeIs(6));
  EXPECT_EQ(tuner.best()->ns, 100);
  EXPECT_EQ(tuner.ended(), "no other candidate was found");
}

TEST(TunerTest, FailedCandidatesAreCountedByKindWithTheFirstMessage) {
  Task task(Options(40, 8));
  int wrong = 0, slow = 0;
  task.measurer.change = [&](const auto& numbers, Measurement& measurement) {
    if (numbers[0] == 5) return;
    if (numbers[1] % 2 == 1) {
      Fail(measurement, Measurement::WRONG_ANSWER,
           absl::StrCat("wrong ", ++wrong));
    } else {
      Fail(measurement, Measurement::TIMEOUT, absl::StrCat("slow ", ++slow));
    }
  };
  Tuner tuner = task.MakeTuner();
  TW_ASSERT_OK(tuner.Run());
  ASSERT_GT(wrong, 0);
  ASSERT_GT(slow, 0);
  const Failures& failures = tuner.failures();
  ASSERT_THAT(failures, SizeIs(2));
  EXPECT_EQ(failures.at(Measurement::WRONG_ANSWER).count, wrong);
  EXPECT_EQ(failures.at(Measurement::WRONG_ANSWER).first, "wrong 1");
  EXPECT_EQ(failures.at(Measurement::TIMEOUT).count, slow);
  EXPECT_EQ(failures.at(Measurement::TIMEOUT).first, "slow 1");
  EXPECT_EQ(tuner.report().failed, wrong + slow);
  EXPECT_EQ(tuner.report().trials, 40);
}

TEST(TunerTest, CandidatesWithOtherBitsFailWhereBitsAreKept) {
  for (const bool keep : {true, false}) {
    TunerOptions options = Options(40, 8);
    options.keep_bits = keep;
    Task task(options);
    int others = 0;
    task.measurer.change = [&](const auto& numbers, Measurement& measurement) {
      const bool same = numbers[0] == 5;
      others += same ? 0 : 1;
      measurement.mutable_verification()->set_bits(same ? "0a" : "0b");
    };
    Tuner tuner = task.MakeTuner();
    TW_ASSERT_OK(tuner.Run());
    ASSERT_GT(others, 0);
    EXPECT_EQ(tuner.report().failed, keep ? others : 0);
    if (!keep) continue;
    EXPECT_EQ(NumbersOf(tuner.best()->candidate.schedule)[0], 5);
    EXPECT_THAT(tuner.failures().at(Measurement::WRONG_ANSWER).first,
                HasSubstr("other bits than the rules'"));
  }
}

TEST(TunerTest, WithoutTheRulesBitsNoneAreKept) {
  TunerOptions options = Options(16, 8);
  options.keep_bits = true;
  Task task(options);  // whose measurer tells no bits
  Tuner tuner = task.MakeTuner();
  EXPECT_THAT(tuner.Run(), StatusIs(kFailedPrecondition, "no bits to keep"));
}

TEST(TunerTest, WhenAllCandidatesFailTheStatusSaysHow) {
  Task task(Options(24, 8));
  task.measurer.change = [&](const auto&, Measurement& measurement) {
    Fail(measurement, Measurement::BUILD_ERROR, "no such register");
  };
  Tuner tuner = task.MakeTuner();
  EXPECT_THAT(
      tuner.Run(),
      StatusIs(kFailedPrecondition,
               AllOf(HasSubstr("none of 24 candidates works"),
                     HasSubstr("BUILD_ERROR"), HasSubstr("no such register"))));
  EXPECT_THAT(tuner.trials(), SizeIs(24));
  EXPECT_EQ(tuner.best(), nullptr);
}

TEST(TunerTest, AFailingGeneratorIsNamed) {
  const sketch::Generator failing = {
      "failing",
      [](const sketch::Workload&, const DeviceSpec&,
         Decider&) -> absl::StatusOr<sketch::Schedule> {
        return absl::InvalidArgumentError("no way to tile it");
      }};
  TaskSpace space(sketch::Workload(), {failing}, DeviceSpec(),
                  NumberFeatures());
  Evolution method{EvolutionOptions()};
  LandscapeMeasurer measurer(Cone({}));
  Tuner tuner({space, method, nullptr, 0, measurer, Key()}, Options(24, 8));
  EXPECT_THAT(tuner.Run(), StatusIs(kFailedPrecondition,
                                    AllOf(HasSubstr("no candidate to measure"),
                                          HasSubstr("no way to tile it"))));
  EXPECT_THAT(measurer.measured, IsEmpty());
}

TEST(TunerTest, WhatWasMeasuredBeforeAnErrorCounts) {
  Task task(Options(64, 16));
  task.measurer.breaks_after = 21;
  Tuner tuner = task.MakeTuner();
  EXPECT_THAT(tuner.Run(),
              StatusIs(absl::StatusCode::kUnavailable, "the device went away"));
  EXPECT_EQ(tuner.report().trials, 21);
  EXPECT_NE(tuner.best(), nullptr);
}

TEST(TunerTest, ADeviceThatMeasuresNothingAnyMoreIsAnError) {
  Task task(Options(64, 8));
  task.measurer.change = [&](const auto&, Measurement& measurement) {
    if (task.measurer.measured.size() <= 8) return;
    Fail(measurement, Measurement::RUN_ERROR, "fell off the bus");
    measurement.set_fault(Measurement::DEVICE);
  };
  Tuner tuner = task.MakeTuner();
  EXPECT_THAT(tuner.Run(),
              StatusIs(absl::StatusCode::kUnavailable, "fell off the bus"));
  EXPECT_EQ(tuner.report().trials, 8);
  EXPECT_THAT(task.measurer.measured, SizeIs(16));
}

measure::Record Header(uint64_t seed) {
  measure::Record header;
  header.mutable_device()->set_spec("made-up");
  header.mutable_device()->set_structure_fingerprint(
      Fingerprint::Of("made-up").ToString());
  header.mutable_versions()->set_code_generation(1);
  header.mutable_measurement()->mutable_method()->set_timer(
      measure::Method::THREAD_CPU_TIME);
  header.mutable_measurement()->mutable_method()->set_cache(
      measure::Method::WARM);
  header.mutable_measurement()->mutable_method()->set_threads(1);
  header.set_seed(seed);
  return header;
}

std::vector<Fingerprint> TracesOf(const Tuner& tuner) {
  std::vector<Fingerprint> traces;
  for (const Trial& trial : tuner.trials())
    traces.push_back(trial.candidate.trace);
  return traces;
}

struct Interrupted {
  std::string path;
  std::unique_ptr<measure::Store> store;
  explicit Interrupted(const std::string& name)
      : path(absl::StrCat(::testing::TempDir(), "/", name, ".db")) {
    auto opened = measure::Store::Open(path);
    EXPECT_THAT(opened, IsOk());
    store = *std::move(opened);
  }
};

TEST(RecordedMeasurerTest, AResumedRunEndsWhereAnUnbrokenOneDoes) {
  FakeClock clock;
  Task unbroken(Options(60, 12, 7));
  Tuner whole = unbroken.MakeTuner();
  TW_ASSERT_OK(whole.Run());
  for (const int breaks_after : {0, 1, 12, 29, 59}) {
    SCOPED_TRACE(breaks_after);
    Interrupted records(absl::StrCat("resumed", breaks_after));
    {
      Task task(Options(60, 12, 7));
      task.measurer.breaks_after = breaks_after;
      RecordedMeasurer recorded(task.measurer, *records.store, Header(7),
                                clock);
      Tuner tuner = task.MakeTuner(recorded);
      EXPECT_THAT(tuner.Run(), StatusIs(absl::StatusCode::kUnavailable));
    }
    TW_ASSERT_OK_AND_ASSIGN(const measure::StoreStats stats,
                            records.store->Stats());
    EXPECT_EQ(stats.records, breaks_after);
    Task task(Options(60, 12, 7));
    RecordedMeasurer recorded(task.measurer, *records.store, Header(7), clock);
    Tuner tuner = task.MakeTuner(recorded);
    TW_ASSERT_OK(tuner.Run());
    EXPECT_EQ(recorded.replayed(), breaks_after);
    EXPECT_EQ(recorded.measured(), 60 - breaks_after);
    EXPECT_EQ(TracesOf(tuner), TracesOf(whole));
    EXPECT_EQ(tuner.best()->ns, whole.best()->ns);
  }
}

TEST(RecordedMeasurerTest, RecordsOfAnotherSeedOrCompilerDoNotAnswer) {
  FakeClock clock;
  Interrupted records("others");
  const auto measured_again = [&](const measure::Record& header) {
    Task task(Options(12, 12, 7));
    RecordedMeasurer recorded(task.measurer, *records.store, header, clock);
    Tuner tuner = task.MakeTuner(recorded);
    EXPECT_THAT(tuner.Run(), IsOk());
    return recorded.measured();
  };
  EXPECT_EQ(measured_again(Header(7)), 12);
  EXPECT_EQ(measured_again(Header(7)), 0);
  EXPECT_EQ(measured_again(Header(8)), 12);
  measure::Record newer = Header(7);
  newer.mutable_versions()->set_code_generation(2);
  EXPECT_EQ(measured_again(newer), 12);
}

TEST(RecordedMeasurerTest, WhatSaysNothingAboutACandidateIsNotRecorded) {
  FakeClock clock;
  Interrupted records("faults");
  Task task(Options(12, 12, 7));
  task.measurer.change = [&](const auto&, Measurement& measurement) {
    const size_t number = task.measurer.measured.size();
    if (number > 4) return;
    Fail(measurement, Measurement::RUN_ERROR, "lost");
    measurement.set_fault(number == 1   ? Measurement::CANDIDATE
                          : number == 2 ? Measurement::DEVICE
                                        : Measurement::INFRASTRUCTURE);
  };
  RecordedMeasurer recorded(task.measurer, *records.store, Header(7), clock);
  Tuner tuner = task.MakeTuner(recorded);
  TW_ASSERT_OK(tuner.Round());
  TW_ASSERT_OK_AND_ASSIGN(const measure::StoreStats stats,
                          records.store->Stats());
  EXPECT_EQ(stats.records, 9);
  EXPECT_EQ(stats.failed, 1);
  EXPECT_EQ(tuner.report().trials, 9);
}

// Their times compare within the comparison alone.
TEST(RecordedMeasurerTest, ComparisonsAreRecordedAndAnswerNothing) {
  FakeClock clock;
  Interrupted records("compared");
  Task task(Options(12, 12, 7));
  RecordedMeasurer recorded(task.measurer, *records.store, Header(7), clock);
  TW_ASSERT_OK_AND_ASSIGN(const Candidate rules, task.space.Preferred());
  TW_ASSERT_OK_AND_ASSIGN(
      const Candidate far,
      task.space.FromAnswers("made-up",
                             {{"v0", "0"}, {"v1", "9"}, {"v2", "0"}}));
  Measurement compared;
  compared.set_outcome(Measurement::OK);
  compared.mutable_latency()->set_n(1);
  compared.mutable_method()->set_timer(measure::Method::THREAD_CPU_TIME);
  compared.mutable_method()->set_repeats(1);
  compared.mutable_method()->set_degree_of_parallelism(1);
  compared.mutable_method()->set_threads(1);
  compared.mutable_method()->set_turns("with another");
  Measurement failed;
  failed.set_outcome(Measurement::TIMEOUT);
  TW_ASSERT_OK(recorded.KeepComparison(
      Key(), {rules.schedule.ToProto(), far.schedule.ToProto()},
      {compared, failed}));
  TW_ASSERT_OK_AND_ASSIGN(const measure::StoreStats stats,
                          records.store->Stats());
  EXPECT_EQ(stats.records, 2);
  EXPECT_EQ(stats.failed, 1);
  Tuner tuner = task.MakeTuner(recorded);
  TW_ASSERT_OK(tuner.Run());
  EXPECT_EQ(recorded.replayed(), 0);
  TW_ASSERT_OK_AND_ASSIGN(
      const PriorRecords prior,
      ReadPriorRecords(*records.store, Key(), Header(8), task.space));
  EXPECT_THAT(prior.trials, SizeIs(12 + 1));  // and the one that failed
}

TEST(PriorRecordsTest, AnotherRunBeginsWithWhatTheFirstFound) {
  FakeClock clock;
  Interrupted records("prior");
  {
    Task task(Options(60, 12, 7));
    task.measurer.change = [&](const auto& numbers, Measurement& measurement) {
      if (numbers[2] == 3) Fail(measurement, Measurement::TIMEOUT, "slow");
    };
    RecordedMeasurer recorded(task.measurer, *records.store, Header(7), clock);
    Tuner tuner = task.MakeTuner(recorded);
    TW_ASSERT_OK(tuner.Run());
  }
  Task task(Options(24, 12, 8));
  TW_ASSERT_OK_AND_ASSIGN(
      const PriorRecords prior,
      ReadPriorRecords(*records.store, Key(), Header(8), task.space));
  EXPECT_EQ(prior.stale, 0);
  ASSERT_THAT(prior.trials, SizeIs(60));
  Tuner tuner = task.MakeTuner();
  double best = 1e9;
  std::set<Fingerprint> known;
  for (const Trial& trial : prior.trials) {
    best = std::min(best, trial.ns);
    known.insert(trial.candidate.trace);
    tuner.AddKnown(trial.candidate, trial.ns);
  }
  EXPECT_EQ(tuner.best()->ns, best);
  TW_ASSERT_OK(tuner.Run());
  EXPECT_EQ(tuner.report().trials, 24);
  for (size_t i = 60; i < tuner.trials().size(); ++i)
    EXPECT_EQ(known.count(tuner.trials()[i].candidate.trace), 0);
  // The same run's records are left out.
  TW_ASSERT_OK_AND_ASSIGN(
      const PriorRecords own,
      ReadPriorRecords(*records.store, Key(), Header(7), task.space));
  EXPECT_THAT(own.trials, IsEmpty());
}

TEST(PriorRecordsTest, DecisionsThatGiveAnotherTraceNowAreStale) {
  FakeClock clock;
  Interrupted records("stale");
  {
    Task task(Options(12, 12, 7));
    RecordedMeasurer recorded(task.measurer, *records.store, Header(7), clock);
    Tuner tuner = task.MakeTuner(recorded);
    TW_ASSERT_OK(tuner.Run());
  }
  // The same names, with fewer values: 6 to 9 are rounded to 5.
  TaskSpace space = NumberSpace({5, 9, 9});
  TW_ASSERT_OK_AND_ASSIGN(
      const PriorRecords prior,
      ReadPriorRecords(*records.store, Key(), Header(8), space));
  EXPECT_GT(prior.stale, 0);
  EXPECT_EQ(prior.stale + static_cast<int>(prior.trials.size()), 12);
  for (const Trial& trial : prior.trials)
    EXPECT_EQ(Cone({6, 2, 7})(NumbersOf(trial.candidate.schedule)), trial.ns);
}

TEST(PriorRecordsTest, WhatIsFastForAnotherWorkloadIsTriedFirst) {
  constexpr char kOther[] =
      "X: f32[4] = placeholder\n"
      "Y: f32[4] = compute (i: 4) { X[i] * 2.0 }\n"
      "return Y\n";
  TW_ASSERT_OK_AND_ASSIGN(const measure::WorkloadKey other,
                          measure::ParseWorkloadKey(kOther));
  FakeClock clock;
  Interrupted records("transfer");
  {
    Task task(Options(60, 12, 7));
    RecordedMeasurer recorded(task.measurer, *records.store, Header(7), clock);
    Tuner tuner({task.space, task.method, &task.model, 0, recorded, other},
                task.options);
    TW_ASSERT_OK(tuner.Run());
  }
  const auto learn = [&](const std::string& own, ScoreModel& model) {
    return LearnFromOtherTasks(*records.store, {own}, Header(8),
                               NumberFeatures(), /*most=*/50, /*first_task=*/1,
                               model);
  };
  const auto best_of_eight = [](Task& task) {
    Tuner tuner = task.MakeTuner();
    EXPECT_THAT(tuner.Run(), IsOk());
    return tuner.best()->ns;
  };
  Task taught(Options(8, 8), Cone({6, 2, 6})),
      untaught(Options(8, 8), Cone({6, 2, 6}));
  EXPECT_THAT(learn(Key().text(), taught.model), IsOkAndHolds(50));
  EXPECT_THAT(learn(other.text(), untaught.model), IsOkAndHolds(0));
  EXPECT_LT(best_of_eight(taught), best_of_eight(untaught));
}

}  // namespace
}  // namespace tilewright::search

#include "search/tune_tasks.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/record.pb.h"
#include "search/random_search.h"
#include "search/space.h"
#include "search/testing/landscape.h"
#include "search/tuner.h"

namespace tilewright::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using measure::Measurement;

// Tasks of 1,000 candidates or fewer, in batches of 8, searched at random.
class TuneTasksTest : public ::testing::Test {
 protected:
  struct Task {
    explicit Task(std::vector<int> most) : space(NumberSpace(most)) {}
    TaskSpace space;
    RandomSearch method;
    std::unique_ptr<LandscapeMeasurer> measurer;
    std::unique_ptr<Tuner> tuner;
  };

  // `scale`: of all its times.
  Task& Add(double scale, std::vector<int> most = {9, 9, 9}) {
    tasks_.push_back(std::make_unique<Task>(std::move(most)));
    Task& task = *tasks_.back();
    TunerOptions options;
    task.measurer = std::make_unique<LandscapeMeasurer>(
        [scale](const std::vector<int>& at) {
          return scale * Cone({6, 2, 7})(at);
        });
    options.trials = 1'000'000;
    options.batch = 8;
    options.seed = tasks_.size();
    task.tuner = std::make_unique<Tuner>(
        Tuner::Parts{task.space, task.method, nullptr, 0, *task.measurer, {}},
        options);
    return task;
  }

  absl::Status Tune(const TuneTasksOptions& options,
                    const std::function<absl::Status(const RoundOfTask&)>&
                        after_round = nullptr) {
    std::vector<Tuner*> tuners;
    for (const auto& task : tasks_) tuners.push_back(task->tuner.get());
    return TuneTasks(tuners, std::vector<ScheduledTask>(tasks_.size()), options,
                     after_round);
  }

  static void FailAll(LandscapeMeasurer& measurer) {
    measurer.change = [](const auto&, Measurement& measurement) {
      measurement.clear_latency();
      measurement.clear_verification();
      measurement.set_outcome(Measurement::BUILD_ERROR);
      measurement.set_fault(Measurement::CANDIDATE);
      measurement.set_message("too many registers");
    };
  }

  std::vector<std::unique_ptr<Task>> tasks_;
};

TEST_F(TuneTasksTest, SpendsItsTrialsAndMostOfThemWhereTimeIsLongest) {
  Add(1), Add(100), Add(2);
  TuneTasksOptions options;
  options.trials = 100;  // no multiple of a batch
  int rounds = 0, last_trials = 0;
  TW_ASSERT_OK(Tune(options, [&](const RoundOfTask& round) {
    ++rounds;
    EXPECT_GT(round.trials, last_trials);
    last_trials = round.trials;
    return absl::OkStatus();
  }));
  EXPECT_EQ(rounds, 13);
  EXPECT_EQ(last_trials, 100);
  EXPECT_THAT(tasks_[0]->measurer->measured, SizeIs(8));
  EXPECT_THAT(tasks_[1]->measurer->measured, SizeIs(84));
  EXPECT_THAT(tasks_[2]->measurer->measured, SizeIs(8));
}

TEST_F(TuneTasksTest, TheRulesOfAllTasksComeFirst) {
  Add(1), Add(100), Add(2);
  TuneTasksOptions options;
  options.trials = 3 + 16;
  options.first_trials = 1;
  std::vector<size_t> order;
  TW_ASSERT_OK(Tune(options, [&](const RoundOfTask& round) {
    order.push_back(round.task);
    return absl::OkStatus();
  }));
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 1, 1));
  for (const auto& task : tasks_)
    EXPECT_THAT(task->measurer->measured[0], ElementsAre(0, 0, 0));
  EXPECT_THAT(tasks_[0]->measurer->measured, SizeIs(1));
}

TEST_F(TuneTasksTest, WhereTheRulesFailATaskHasItsBatchStill) {
  Task& task = Add(1);
  task.measurer->change = [&](const auto& numbers, Measurement& measurement) {
    if (numbers != std::vector<int>{0, 0, 0}) return;
    measurement.clear_latency();
    measurement.clear_verification();
    measurement.set_outcome(Measurement::TIMEOUT);
    measurement.set_fault(Measurement::CANDIDATE);
  };
  TuneTasksOptions options;
  options.trials = 17;
  options.first_trials = 1;
  TW_ASSERT_OK(Tune(options));
  EXPECT_THAT(task.measurer->measured, SizeIs(17));
}

TEST_F(TuneTasksTest, ATaskWithoutACandidateThatWorksEndsAlone) {
  FailAll(*Add(100).measurer);
  Add(1);
  TuneTasksOptions options;
  options.trials = 40;
  TW_ASSERT_OK(Tune(options));
  EXPECT_THAT(tasks_[0]->measurer->measured, SizeIs(8));
  EXPECT_THAT(tasks_[1]->measurer->measured, SizeIs(32));
}

TEST_F(TuneTasksTest, WithoutAnyItSaysWhy) {
  FailAll(*Add(1).measurer);
  FailAll(*Add(1).measurer);
  EXPECT_THAT(Tune({}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 "too many registers"));
}

TEST_F(TuneTasksTest, ASmallTaskEndsWhenAllOfItIsMeasured) {
  Add(1000, {2, 1, 1});
  Add(1);
  TuneTasksOptions all;
  all.trials = 60;
  TW_ASSERT_OK(Tune(all));
  EXPECT_GE(tasks_[1]->measurer->measured.size(), 48);
  EXPECT_EQ(tasks_[0]->tuner->ended(), "no other candidate was found");
}

TEST_F(TuneTasksTest, EndsAtItsWallTimeOrWhenItIsCancelled) {
  FakeClock clock;
  Task& task = Add(1);
  task.measurer->change = [&](const auto&, Measurement&) {
    clock.AdvanceIdle(100'000'000);
  };
  TuneTasksOptions options;
  options.trials = 1000;
  options.seconds = 2;
  options.clock = &clock;
  TW_ASSERT_OK(Tune(options));
  EXPECT_THAT(task.measurer->measured, SizeIs(24));
  Cancellation cancellation;
  options.seconds = 1e9;
  options.cancellation = &cancellation;
  TW_ASSERT_OK(Tune(options, [&](const RoundOfTask&) {
    cancellation.Cancel();
    return absl::OkStatus();
  }));
  EXPECT_THAT(task.measurer->measured, SizeIs(32));
}

TEST_F(TuneTasksTest, ErrorsEndItAndWhatWasMeasuredIsKept) {
  Task& task = Add(1);
  task.measurer->breaks_after = 11;
  EXPECT_THAT(Tune({}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(task.tuner->report().trials, 11);
  task.measurer->breaks_after = -1;
  EXPECT_THAT(
      Tune({},
           [](const RoundOfTask&) {
             return absl::ResourceExhaustedError("the disk is full");
           }),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk")));
}

}  // namespace
}  // namespace tilewright::search

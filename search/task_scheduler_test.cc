#include "search/task_scheduler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::search {
namespace {

using ::testing::ElementsAre;

constexpr double kFailed = std::numeric_limits<double>::infinity();

TaskSchedulerOptions RoundRobin() {
  TaskSchedulerOptions options;
  options.strategy = TaskSchedulerOptions::Strategy::kRoundRobin;
  return options;
}

void ReportAll(TaskScheduler& scheduler, size_t task,
               const std::vector<double>& seconds) {
  for (const double s : seconds) scheduler.Report(task, s);
}

TEST(TaskSchedulerTest, EveryTaskHasARoundFirst) {
  TaskScheduler scheduler({{}, {}, {}}, {});
  for (size_t task = 0; task < 3; ++task) {
    EXPECT_EQ(scheduler.Next(), task);
    scheduler.Report(task, 1);
  }
}

TEST(TaskSchedulerTest, GradientIsThatOfTheSource) {
  TaskScheduler scheduler({{2}, {1}}, {});
  ReportAll(scheduler, 0, {8, 6, 5, 5});
  ReportAll(scheduler, 1, {10});
  // Fell by 3 in 3 rounds; may fall by 5 / 4.
  EXPECT_NEAR(scheduler.Gradient(0), 2 * (0.2 * -1 + 0.8 * -1.25), 1e-9);
  // May fall by all of it.
  EXPECT_NEAR(scheduler.Gradient(1), 0.8 * -10, 1e-9);
  EXPECT_EQ(scheduler.Next(), 1);
}

// 10 seconds at 95 % of the roofline have less to give than 1 at a tenth.
TEST(TaskSchedulerTest, WhatTheRooflineLeavesIsWhatMayGo) {
  TaskScheduler scheduler({{1, 0, "", 9.5}, {1, 0, "", 0.1}}, {});
  ReportAll(scheduler, 0, {10});
  ReportAll(scheduler, 1, {1});
  EXPECT_NEAR(scheduler.Gradient(0), 0.8 * -0.5, 1e-9);
  EXPECT_NEAR(scheduler.Gradient(1), 0.8 * -0.9, 1e-9);
  EXPECT_EQ(scheduler.Next(), 1);
  // One that is faster than its roofline says has nothing left.
  TaskScheduler beyond({{1, 0, "", 2}}, {});
  ReportAll(beyond, 0, {1});
  EXPECT_EQ(beyond.Gradient(0), 0);
}

TEST(TaskSchedulerTest, ATaskIsExpectedToComeNearTheSpeedOfItsGroup) {
  TaskScheduler scheduler({{1, 100, "g"}, {1, 100, "g"}, {1, 100, "h"}}, {});
  ReportAll(scheduler, 0, {1});
  ReportAll(scheduler, 1, {10, 10});
  ReportAll(scheduler, 2, {10, 10});
  EXPECT_NEAR(scheduler.Gradient(1), 0.8 * (2 * 100 / 100. - 10), 1e-9);
  EXPECT_NEAR(scheduler.Gradient(2), 0.8 * -5, 1e-9);
}

TEST(TaskSchedulerTest, ASlowTaskLeavesItsGroupAfterManyMoreRounds) {
  TaskScheduler scheduler({{1, 100, "g"}, {1, 100, "g"}}, {});
  ReportAll(scheduler, 0, {1});
  ReportAll(scheduler, 1, {10, 10, 10, 10, 10, 10});
  EXPECT_NEAR(scheduler.Gradient(1), 0.8 * (2 - 10), 1e-9);
  scheduler.Report(1, 10);  // the seventh: 5 more than the other, and one
  EXPECT_NEAR(scheduler.Gradient(1), 0.8 * -10 / 7, 1e-9);
}

TEST(TaskSchedulerTest, TheObjectiveMayBeAny) {
  TaskSchedulerOptions options;
  options.objective = [](absl::Span<const double> seconds) {
    return *std::max_element(seconds.begin(), seconds.end());
  };
  TaskScheduler scheduler({{}, {}}, options);
  ReportAll(scheduler, 0, {3, 3, 3, 3});
  ReportAll(scheduler, 1, {2});
  EXPECT_EQ(scheduler.Gradient(1), 0);
  EXPECT_EQ(scheduler.Next(), 0);
}

TEST(TaskSchedulerTest, ATaskWithoutAValidCandidateIsDead) {
  for (TaskSchedulerOptions options : {TaskSchedulerOptions(), RoundRobin()}) {
    TaskScheduler scheduler({{100}, {1}}, options);
    scheduler.Report(0, kFailed);
    scheduler.Report(1, 1);
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(scheduler.Next(), 1);
      scheduler.Report(1, 1);
    }
    scheduler.End(1);
    EXPECT_EQ(scheduler.Next(), std::nullopt);
  }
}

TEST(TaskSchedulerTest, RoundRobinTakesTheTasksInTurn) {
  TaskScheduler scheduler({{}, {}, {}}, RoundRobin());
  std::vector<size_t> order;
  for (int i = 0; i < 8; ++i) {
    order.push_back(*scheduler.Next());
    scheduler.Report(order.back(), 1);
    if (i == 4) scheduler.End(0);
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 0, 1, 2, 1, 2));
}

TEST(TaskSchedulerTest, EqualTasksAreDrawnBySeed) {
  std::set<size_t> first;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TaskSchedulerOptions options;
    options.seed = seed;
    TaskScheduler scheduler({{}, {}, {}}, options);
    for (size_t task = 0; task < 3; ++task) scheduler.Report(task, 1);
    first.insert(*scheduler.Next());
  }
  EXPECT_EQ(first.size(), 3);
}

// Seconds of the best candidate after 1, 2, ... rounds.
using Curve = std::function<double(int)>;

struct Model {
  std::vector<ScheduledTask> tasks;
  std::vector<Curve> curves;
  double Seconds(const std::vector<int>& rounds) const {
    double sum = 0;
    for (size_t i = 0; i < tasks.size(); ++i)
      sum += tasks[i].weight * curves[i](rounds[i]);
    return sum;
  }
};

constexpr int kTasks = 4, kRounds = 16;

// Tasks that last long or not, and gain much or little, soon or late. (Where
// all last about as long, taking turns is as good.)
Model DrawModel(Random& random) {
  Model model;
  for (int i = 0; i < kTasks; ++i) {
    ScheduledTask task;
    task.weight = static_cast<double>(random.UniformInt(1, 4));
    model.tasks.push_back(task);
    const double seconds = std::exp2(random.Uniform(-3, 3));
    const double floor = random.Uniform(0.2, 1);  // share that is never won
    const double rate = random.Uniform(0.3, 0.9);
    model.curves.push_back([=](int rounds) {
      return seconds * (floor + (1 - floor) * std::pow(rate, rounds - 1));
    });
  }
  return model;
}

// The least seconds of any allocation of the rounds, at least one each.
double Exhaustive(const Model& model, std::vector<int> rounds = {}) {
  int spent = 0;
  for (const int r : rounds) spent += r;
  const int tasks_after = kTasks - static_cast<int>(rounds.size()) - 1;
  rounds.push_back(kRounds - spent);
  if (tasks_after == 0) return model.Seconds(rounds);
  double best = kFailed;
  for (int r = 1; r <= kRounds - spent - tasks_after; ++r) {
    rounds.back() = r;
    best = std::min(best, Exhaustive(model, rounds));
  }
  return best;
}

double Scheduled(const Model& model, const TaskSchedulerOptions& options) {
  TaskScheduler scheduler(model.tasks, options);
  std::vector<int> rounds(model.tasks.size());
  for (int i = 0; i < kRounds; ++i) {
    const size_t task = *scheduler.Next();
    scheduler.Report(task, model.curves[task](++rounds[task]));
  }
  return model.Seconds(rounds);
}

TEST(TaskSchedulerTest, IsNearerToTheBestAllocationThanTakingTurns) {
  Random random(1);
  double lost[2] = {0, 0};
  int better = 0, worse = 0;
  constexpr int kModels = 300;
  for (int i = 0; i < kModels; ++i) {
    const Model model = DrawModel(random);
    const double best = Exhaustive(model);
    const double gain = model.Seconds({1, 1, 1, 1}) - best;
    const double by_gradient = Scheduled(model, {});
    const double in_turn = Scheduled(model, RoundRobin());
    ASSERT_GE(by_gradient, best - 1e-12);
    ASSERT_GE(in_turn, best - 1e-12);
    lost[0] += (by_gradient - best) / gain / kModels;
    lost[1] += (in_turn - best) / gain / kModels;
    better += by_gradient < in_turn - 1e-12 ? 1 : 0;
    worse += by_gradient > in_turn + 1e-12 ? 1 : 0;
  }
  std::printf(
      "of the best allocation's gain are lost: by gradient %.3f, in "
      "turn %.3f; better in %d of %d, worse in %d\n",
      lost[0], lost[1], better, kModels, worse);
  EXPECT_LT(lost[0], 0.75 * lost[1]);
  EXPECT_LT(lost[0], 0.12);
  EXPECT_GT(2 * better, 3 * worse);
}

}  // namespace
}  // namespace tilewright::search

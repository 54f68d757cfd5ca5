#include "search/task_scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace tilewright::search {
namespace {

// The relative step in a task's seconds by which the objective's derivative is
// taken. (TVM takes 1e-4 seconds, more than most tasks last.)
constexpr double kRelativeStep = 1e-4;
// A task that is slower than its group by beta, after so many more rounds than
// any other of it, does not belong to it.
constexpr int kRoundsBeforeLeaving = 5;

}  // namespace

TaskScheduler::TaskScheduler(std::vector<ScheduledTask> tasks,
                             TaskSchedulerOptions options)
    : options_(std::move(options)), random_(options_.seed) {
  TW_CHECK_GE(options_.window, 1);
  for (ScheduledTask& task : tasks) tasks_.push_back({std::move(task), {}});
}

bool TaskScheduler::IsValid(size_t task) const {
  const std::vector<double>& history = tasks_[task].history;
  return !history.empty() && std::isfinite(history.back());
}

double TaskScheduler::Objective(absl::Span<const double> seconds) const {
  if (options_.objective) return options_.objective(seconds);
  double sum = 0;
  for (size_t i = 0; i < tasks_.size(); ++i)
    sum += tasks_[i].task.weight * seconds[i];
  return sum;
}

std::vector<size_t> TaskScheduler::GroupOf(size_t task) const {
  std::vector<size_t> others;
  const std::string& group = tasks_[task].task.group;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (i != task && !group.empty() && tasks_[i].task.group == group &&
        IsValid(i))
      others.push_back(i);
  }
  return others;
}

double TaskScheduler::Speed(size_t task) const {
  return tasks_[task].task.flops / tasks_[task].history.back();
}

double TaskScheduler::Gradient(size_t task) const {
  TW_CHECK(IsValid(task));
  // By the chain rule: of the objective by the task's seconds ...
  std::vector<double> seconds;
  for (size_t i = 0; i < tasks_.size(); ++i)
    seconds.push_back(IsValid(i) ? tasks_[i].history.back() : 0);
  const double now = seconds[task];
  const double step = kRelativeStep * now;
  const double before = Objective(seconds);
  seconds[task] -= step;
  const double chain = (before - Objective(seconds)) / step;
  // ... times that of its seconds by rounds, as they fell lately,
  const std::vector<double>& history = tasks_[task].history;
  const size_t rounds = history.size();
  const auto window = static_cast<size_t>(options_.window);
  const double past =
      rounds > window ? (now - history[rounds - 1 - window]) / options_.window
                      : 0;
  // and as they may: if all that its roofline leaves went in as many rounds
  // again, or if the task came near the speed of its group.
  const double least = std::min(tasks_[task].task.least_seconds, now);
  double next = now - (now - least) / static_cast<double>(rounds);
  double best_speed = 0;
  const std::vector<size_t> group = GroupOf(task);
  for (const size_t other : group)
    best_speed = std::max(best_speed, Speed(other));
  if (best_speed > 0) {
    best_speed = std::max(best_speed, Speed(task));
    next = std::min(next, options_.beta * tasks_[task].task.flops / best_speed);
    next = std::max(next, least);
  }
  const double future = next - now;
  return chain * (options_.alpha * past + (1 - options_.alpha) * future);
}

std::optional<size_t> TaskScheduler::Next() {
  std::vector<size_t> left;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].ended) continue;
    if (tasks_[i].history.empty()) return i;
    left.push_back(i);
  }
  if (left.empty()) return std::nullopt;
  if (options_.strategy == TaskSchedulerOptions::Strategy::kRoundRobin) {
    const auto place = std::lower_bound(left.begin(), left.end(), next_);
    const size_t task = place == left.end() ? left.front() : *place;
    next_ = task + 1;
    return task;
  }
  double least = 0;
  std::vector<size_t> best;
  for (const size_t task : left) {
    const double gradient = Gradient(task);
    if (best.empty() || gradient < least) {
      least = gradient;
      best.clear();
    }
    if (gradient == least) best.push_back(task);
  }
  return best[random_.Index(best.size())];
}

void TaskScheduler::Report(size_t task, double best_seconds) {
  Task& reported = tasks_.at(task);
  TW_CHECK(best_seconds > 0);
  TW_CHECK(reported.history.empty() || best_seconds <= reported.history.back());
  reported.history.push_back(best_seconds);
  if (!IsValid(task)) {
    reported.ended = true;
    return;
  }
  LeaveGroupIfSlow(task);
}

void TaskScheduler::LeaveGroupIfSlow(size_t task) {
  const std::vector<size_t> group = GroupOf(task);
  double best_speed = 0;
  int most_rounds = 0;
  for (const size_t other : group) {
    best_speed = std::max(best_speed, Speed(other));
    most_rounds = std::max(most_rounds, rounds(other));
  }
  if (!group.empty() && Speed(task) < best_speed / options_.beta &&
      rounds(task) > kRoundsBeforeLeaving + most_rounds)
    tasks_[task].task.group.clear();
}

}  // namespace tilewright::search

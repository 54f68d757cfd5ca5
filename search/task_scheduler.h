// Which task of a model is tuned next (Zheng et al., "Ansor", OSDI 2020,
// section 6 and appendix A; constants and details as in TVM 0.18,
// auto_scheduler/task_scheduler.py).
//
//   TaskScheduler scheduler(tasks, options);
//   while (const std::optional<size_t> task = scheduler.Next()) {
//     scheduler.Report(*task, BestSecondsAfterARoundOf(*task));
//   }
#ifndef TILEWRIGHT_SEARCH_TASK_SCHEDULER_H_
#define TILEWRIGHT_SEARCH_TASK_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"

namespace tilewright::search {

struct ScheduledTask {
  double weight = 1;  // how often a run of the model executes it
  double flops = 0;
  std::string group;  // tasks of a group are expected to reach a similar speed
  // No candidate is expected to be faster: its roofline. 0, as in the paper,
  // expects of every task that all its time may go.
  double least_seconds = 0;
};

struct TaskSchedulerOptions {
  enum class Strategy : uint8_t {
    // Where a round is expected to gain most.
    kGradient,
    kRoundRobin,
  };
  Strategy strategy = Strategy::kGradient;
  double alpha = 0.2;  // how much the past counts beside the forecast
  double beta = 2;     // a task is expected to reach 1/beta of its group's best
  int window = 3;      // rounds that the past is
  // The objective to be minimised, a function of the tasks' best seconds that
  // falls with each of them. Null: their sum, by weight.
  std::function<double(absl::Span<const double> seconds)> objective;
  uint64_t seed = 0;  // decides between equal ones
};

class TaskScheduler {
 public:
  TaskScheduler(std::vector<ScheduledTask> tasks, TaskSchedulerOptions options);

  // First every task once, in order; then by strategy. None: no task is left.
  std::optional<size_t> Next();
  // After a round of `task`: the seconds of its best candidate so far, infinity
  // if none was valid, which ends the task. REQUIRES: above 0, not above those
  // of the round before.
  void Report(size_t task, double best_seconds);
  // The task has nothing left to try.
  void End(size_t task) { tasks_.at(task).ended = true; }

  int rounds(size_t task) const {
    return static_cast<int>(tasks_.at(task).history.size());
  }
  bool ended(size_t task) const { return tasks_.at(task).ended; }
  // How fast another round is expected to make the objective smaller: 0 or
  // less, in seconds a round. REQUIRES: every task that has not ended had a
  // round.
  double Gradient(size_t task) const;

 private:
  struct Task {
    ScheduledTask task;
    std::vector<double> history;  // best seconds, by round
    bool ended = false;
  };
  bool IsValid(size_t task) const;
  double Objective(absl::Span<const double> seconds) const;
  // The others of its group that have a valid candidate.
  std::vector<size_t> GroupOf(size_t task) const;
  double Speed(size_t task) const;  // FLOP/s
  void LeaveGroupIfSlow(size_t task);

  std::vector<Task> tasks_;
  const TaskSchedulerOptions options_;
  Random random_;
  size_t next_ = 0;  // round-robin
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_TASK_SCHEDULER_H_

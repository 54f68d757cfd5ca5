// The search for all tasks of a model: the scheduler gives each batch to the
// task where it is expected to gain most.
#ifndef TILEWRIGHT_SEARCH_TUNE_TASKS_H_
#define TILEWRIGHT_SEARCH_TUNE_TASKS_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "search/task_scheduler.h"
#include "search/tuner.h"

namespace tilewright::search {

struct TuneTasksOptions {
  int trials = 200;  // of all tasks together
  double seconds = std::numeric_limits<double>::infinity();  // of wall time
  // Every task has so many trials before any has a batch: the rules' candidate
  // tells how long it takes. 0: the first batches are whole.
  int first_trials = 0;
  TaskSchedulerOptions scheduler;
  Clock* clock = RealClock();
  const Cancellation* cancellation = nullptr;
};

// As `after_round` sees it.
struct RoundOfTask {
  size_t task;
  int trials;  // of all tasks so far
  double spent_s;
};

// Until the budget is spent or no task has anything left. A task of which no
// candidate works ends, the others go on. Errors are those of Tuner::Round and
// of `after_round`, and FailedPrecondition if no task has a candidate that
// works: why the first has none. REQUIRES: as many tasks as tuners.
absl::Status TuneTasks(
    absl::Span<Tuner* const> tuners, std::vector<ScheduledTask> tasks,
    const TuneTasksOptions& options,
    const std::function<absl::Status(const RoundOfTask&)>& after_round);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_TUNE_TASKS_H_

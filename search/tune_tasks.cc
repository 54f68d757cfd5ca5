#include "search/tune_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::search {
namespace {

constexpr double kNsPerSecond = 1e9;

int TrialsOf(absl::Span<Tuner* const> tuners) {
  int trials = 0;
  for (const Tuner* tuner : tuners) trials += tuner->report().trials;
  return trials;
}

}  // namespace

absl::Status TuneTasks(
    absl::Span<Tuner* const> tuners, std::vector<ScheduledTask> tasks,
    const TuneTasksOptions& options,
    const std::function<absl::Status(const RoundOfTask&)>& after_round) {
  TW_CHECK_EQ(tuners.size(), tasks.size());
  TaskScheduler scheduler(std::move(tasks), options.scheduler);
  const int64_t began_ns = options.clock->WallNs();
  const auto spent_s = [&] {
    return static_cast<double>(options.clock->WallNs() - began_ns) /
           kNsPerSecond;
  };
  const auto is_cancelled = [&] {
    return options.cancellation != nullptr && options.cancellation->cancelled();
  };
  const auto is_spent = [&] {
    return is_cancelled() || TrialsOf(tuners) >= options.trials ||
           spent_s() >= options.seconds;
  };
  const auto tune = [&](size_t task, int most_trials) -> absl::Status {
    TW_RETURN_IF_ERROR(tuners[task]->Round(
        std::min(most_trials, options.trials - TrialsOf(tuners))));
    if (!tuners[task]->ended().empty()) scheduler.End(task);
    const double best_ns = tuners[task]->report().best_ns;
    // A first candidate that failed does not end its task: it has a batch yet.
    if (most_trials != options.first_trials || std::isfinite(best_ns))
      scheduler.Report(task, best_ns / kNsPerSecond);
    if (!after_round) return absl::OkStatus();
    return after_round({task, TrialsOf(tuners), spent_s()});
  };
  for (size_t i = 0; options.first_trials > 0 && i < tuners.size(); ++i) {
    if (!is_spent()) TW_RETURN_IF_ERROR(tune(i, options.first_trials));
  }
  while (!is_spent()) {
    const std::optional<size_t> task = scheduler.Next();
    if (!task) break;
    TW_RETURN_IF_ERROR(tune(*task, std::numeric_limits<int>::max()));
  }
  for (const Tuner* tuner : tuners) {
    if (tuner->best() != nullptr) return absl::OkStatus();
  }
  if (tuners.empty() || is_cancelled()) return absl::OkStatus();
  return tuners.front()->Outcome();
}

}  // namespace tilewright::search

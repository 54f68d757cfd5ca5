#include "search/tune_tasks.h"

#include <cstdint>
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
  while (!is_cancelled() && TrialsOf(tuners) < options.trials &&
         spent_s() < options.seconds) {
    const std::optional<size_t> task = scheduler.Next();
    if (!task) break;
    Tuner& tuner = *tuners[*task];
    TW_RETURN_IF_ERROR(tuner.Round(options.trials - TrialsOf(tuners)));
    if (!tuner.ended().empty()) scheduler.End(*task);
    scheduler.Report(*task, tuner.report().best_ns / kNsPerSecond);
    if (after_round) {
      TW_RETURN_IF_ERROR(after_round({*task, TrialsOf(tuners), spent_s()}));
    }
  }
  for (const Tuner* tuner : tuners) {
    if (tuner->best() != nullptr) return absl::OkStatus();
  }
  if (tuners.empty() || is_cancelled()) return absl::OkStatus();
  return tuners.front()->Outcome();
}

}  // namespace tilewright::search

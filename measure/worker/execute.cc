#include "measure/worker/execute.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/status_macros.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/worker/repeats.h"

namespace tilewright::measure {
namespace {

constexpr double kSliceNs = 20e6;  // between two reports
constexpr int kMaxLaunchesPerSample = 10000;
// Of a visit that was disturbed.
constexpr int kMostAttempts = 3;
// What takes longer is never free of disturbances where they are many.
constexpr int64_t kLongestRepeatedNs = 50'000'000;

// Executes it once, or as often as makes a sample; with cold caches a sample is
// one execution. Returns how long one execution takes.
absl::StatusOr<double> WarmUp(backends::Stream& stream, backends::Timer& timer,
                              backends::TimedWork& work) {
  TW_ASSIGN_OR_RETURN(std::vector<double> sample,
                      timer.Sample(stream, work, 1));
  const double shortest_ns = static_cast<double>(timer.shortest_sample_ns());
  if (sample[0] >= shortest_ns || work.before_sample) return sample[0];
  const double wanted = shortest_ns / std::max(sample[0], 1.0);
  work.launches_per_sample = static_cast<int>(
      std::min<double>(std::ceil(wanted), kMaxLaunchesPerSample));
  TW_ASSIGN_OR_RETURN(sample, timer.Sample(stream, work, 1));
  return sample[0];
}

using Outcome = absl::StatusOr<Executions>;
using Report = std::function<absl::Status(const std::vector<double>&)>;

// One attempt.
absl::StatusOr<Outcome> ExecuteOnce(
    LoadedCandidate& loaded, const Repeats& repeats, backends::Stream& stream,
    backends::Timer& timer, CacheFlusher* flusher, const Report& report) {
  backends::TimedWork work;
  work.launch = [&loaded] { return loaded.Launch(); };
  if (flusher != nullptr)
    work.before_sample = [&] { return flusher->Flush(stream); };
  const absl::StatusOr<double> launch_ns = WarmUp(stream, timer, work);
  if (!launch_ns.ok()) return Outcome(launch_ns.status());
  const double sample_ns = *launch_ns * work.launches_per_sample;
  const int per_slice =
      static_cast<int>(std::clamp(kSliceNs / std::max(sample_ns, 1.0), 1.0,
                                  static_cast<double>(repeats.max_repeats())));
  const AdaptiveEvaluatorOptions options = FromProto(repeats);
  // A candidate that seems too slow at first is looked at after one execution.
  const int first_slice = *launch_ns > options.give_up_above_ns ? 1 : per_slice;
  AdaptiveEvaluator evaluator(options);
  Executions executed;
  const int64_t start_ns = RealClock()->WallNs();
  while (const int wanted = evaluator.NextRepeats()) {
    std::vector<double> batch;
    while (static_cast<int>(batch.size()) < wanted &&
           (batch.empty() ||
            !(evaluator.IsTimeOver(static_cast<int>(batch.size())) ||
              evaluator.IsTooSlow(batch)))) {
      const int n = std::min(executed.count == 0 ? first_slice : per_slice,
                             wanted - static_cast<int>(batch.size()));
      const absl::StatusOr<std::vector<double>> samples =
          timer.Sample(stream, work, n);
      if (!samples.ok()) return Outcome(samples.status());
      TW_RETURN_IF_ERROR(report(*samples));
      batch.insert(batch.end(), samples->begin(), samples->end());
      executed.count += int64_t{n} * work.launches_per_sample;
    }
    const absl::Status added = evaluator.Add(batch);
    if (!added.ok()) return Outcome(added);
  }
  executed.duration_ns = RealClock()->WallNs() - start_ns;
  return Outcome(executed);
}

}  // namespace

absl::StatusOr<absl::StatusOr<Executions>> Execute(
    LoadedCandidate& loaded, const Repeats& repeats, backends::Stream& stream,
    backends::Timer& timer, CacheFlusher* flusher, SteadyCore* core,
    const std::function<absl::Status(const std::vector<double>&)>& report) {
  Executions all;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (core != nullptr) core->Wait();
    TW_ASSIGN_OR_RETURN(
        const Outcome once,
        ExecuteOnce(loaded, repeats, stream, timer, flusher, report));
    if (!once.ok()) return once;
    all.duration_ns += once->duration_ns;
    all.count += once->count;
    if (core == nullptr || once->duration_ns > kLongestRepeatedNs ||
        core->IsSteady())
      break;
  }
  return Outcome(all);
}

}  // namespace tilewright::measure

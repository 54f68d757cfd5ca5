#include "bench/search/live_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/measuring/tuning_pass.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/record/record.pb.h"
#include "measure/record/workload_key.h"
#include "search/replayed_features.h"
#include "search/space.h"
#include "search/tuner.h"
#include "sketch/derivation/sketch_generator.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/templates/templates.h"

namespace tilewright::bench {
namespace {

constexpr int kRepeats = 30;  // of a turn
constexpr double kFailed = std::numeric_limits<double>::infinity();

// By checkpoint the fastest of so many trials; -1: none worked.
std::vector<int> BestByCheckpoint(absl::Span<const search::Trial> trials,
                                  absl::Span<const int> checkpoints) {
  std::vector<int> best;
  for (const int checkpoint : checkpoints) {
    int fastest = -1;
    const int end = std::min(checkpoint, static_cast<int>(trials.size()));
    for (int i = 0; i < end; ++i) {
      if (std::isfinite(trials[i].ns) &&
          (fastest < 0 || trials[i].ns < trials[fastest].ns))
        fastest = i;
    }
    best.push_back(fastest);
  }
  return best;
}

absl::Status MeasureAgain(const NamedWorkload& named,
                          absl::Span<const search::Trial> trials,
                          const LiveSearchOptions& options,
                          measure::WorkerPool* pool, LiveSearch& run) {
  const std::vector<int> best = BestByCheckpoint(trials, options.checkpoints);
  CandidateSet set;
  set.workload = measure::MakeWorkloadKey(named.workload);
  set.schedules = {named.schedule.ToProto()};
  std::vector<int> which = {0};
  std::vector<int> measured;  // trials, one each
  for (const int trial : best) {
    if (trial < 0 || (!measured.empty() && measured.back() == trial)) continue;
    measured.push_back(trial);
    set.schedules.push_back(trials[trial].candidate.schedule.ToProto());
    which.push_back(static_cast<int>(which.size()));
  }
  TW_ASSIGN_OR_RETURN(
      const std::vector<double> ns,
      MeasureInterleaved(set, which, options.turns, kRepeats, pool));
  if (!std::isfinite(ns[0])) {
    return absl::InternalError(
        absl::StrCat(named.name, ": the rules' schedule does not work"));
  }
  run.rules_ns = ns[0];
  for (const int trial : best) {
    const auto found = std::find(measured.begin(), measured.end(), trial);
    const bool worked = found != measured.end();
    const double again = worked ? ns[1 + (found - measured.begin())] : kFailed;
    run.best_ns.push_back(std::isfinite(again) ? again : kFailed);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<sketch::Generator> GeneratorOf(const std::string& policy,
                                              const NamedWorkload& named) {
  if (policy == "rules") return named.generator;
  if (policy == "sketch")
    return sketch::SketchGenerator(sketch::ExtendedRules());
  if (policy == "template") return sketch::TemplateGenerator();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", policy, "' writes no schedules: rules, sketch or template"));
}

measure::ProcessPoolOptions OneThreadPool() {
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  options.wait_for_steady_core = true;
  options.method.set_threads(1);
  options.method.set_cache(measure::Method::WARM);
  return options;
}

absl::StatusOr<LiveSearch> SearchLive(const NamedWorkload& named,
                                      const sketch::Generator& generator,
                                      const Scheme& scheme, uint64_t seed,
                                      const LiveSearchOptions& options,
                                      measure::WorkerPool* pool) {
  search::SpaceOptions of_space;
  of_space.use_rules = scheme.seeded;
  search::TaskSpace space(named.workload, {generator}, named.spec,
                          search::ReplayedStoreFeatures(), of_space);
  const std::unique_ptr<search::Method> method = MakeMethod(scheme);
  const std::unique_ptr<search::ScoreModel> model = MakeModel(scheme, seed);
  measure::ParallelMeasurer measurer(
      pool, measure::ParallelMeasurerOptions::ForCores(pool->workers()));
  search::TunerOptions of_tuner;
  of_tuner.trials = options.trials;
  of_tuner.batch = options.batch;
  of_tuner.seconds = options.seconds;
  of_tuner.seed = seed;
  search::Tuner tuner({space, *method, model.get(), /*task=*/0, measurer,
                       measure::MakeWorkloadKey(named.workload)},
                      of_tuner);
  const int64_t began_ns = RealClock()->WallNs();
  TW_RETURN_IF_ERROR(tuner.Run());
  LiveSearch run;
  run.wall_s = static_cast<double>(RealClock()->WallNs() - began_ns) * 1e-9;
  const search::TunerReport report = tuner.report();
  run.trials = report.trials;
  run.failed = report.failed;
  run.search_s = report.search_s;
  run.best = ToString(tuner.best()->candidate.table);
  TW_RETURN_IF_ERROR(MeasureAgain(named, tuner.trials(), options, pool, run));
  return run;
}

}  // namespace tilewright::bench

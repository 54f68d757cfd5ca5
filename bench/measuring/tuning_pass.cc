#include "bench/measuring/tuning_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "bench/measuring/foreign_load.h"
#include "bench/measuring/near_default.h"
#include "measure/record/workload_key.h"
#include "measure/stats/latency_summary.h"
#include "measure/stats/median.h"
#include "measure/stats/rank_selection.h"
#include "sketch/rules/default_schedule.h"

namespace tilewright::bench {
namespace {

using measure::AdaptiveEvaluatorOptions;
using measure::Compared;
using measure::Measurement;
using measure::MeasureMode;
using measure::ParallelMeasurer;
using measure::ParallelMeasurerOptions;

constexpr int kBatch = 64;
constexpr int kDrawRepeats = 5;
constexpr int kMaxDrawsPerCandidate = 20;
constexpr double kFailed = std::numeric_limits<double>::quiet_NaN();

double LatencyNs(const Measurement& measurement,
                 Compared compared = Compared::kLow) {
  return measurement.outcome() == Measurement::OK
             ? ComparedNs(measurement.latency(), compared)
             : kFailed;
}

}  // namespace

absl::StatusOr<CandidateSet> DrawCandidates(const sketch::Workload& workload,
                                            const DeviceSpec& spec, int count,
                                            double slowest, uint64_t seed,
                                            measure::WorkerPool* pool) {
  CandidateSet set;
  set.workload = measure::MakeWorkloadKey(workload);
  ParallelMeasurerOptions options =
      ParallelMeasurerOptions::ForCores(pool->workers());
  options.visits = 1;
  options.repeat_promising = false;
  options.repeats = AdaptiveEvaluatorOptions::Fixed(kDrawRepeats);
  ParallelMeasurer measurer(pool, options);
  Random random(seed);
  TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                      sketch::DefaultSchedule(workload, spec));
  std::set<std::string> seen = {schedule.ToString()};
  std::vector<sketch::ScheduleProto> batch = {schedule.ToProto()};
  double sum_ns = 0;
  while (static_cast<int>(set.schedules.size()) < count) {
    for (int tries = 0; static_cast<int>(batch.size()) < kBatch &&
                        tries < kBatch * kMaxDrawsPerCandidate;
         ++tries) {
      const absl::StatusOr<sketch::Schedule> near =
          NearDefault(workload, spec, random);
      if (near.ok() && seen.insert(near->ToString()).second)
        batch.push_back(near->ToProto());
    }
    set.drawn += static_cast<int>(batch.size());
    if (batch.empty() || set.drawn > count * kMaxDrawsPerCandidate) {
      return absl::NotFoundError(absl::StrCat(
          "only ", set.schedules.size(), " candidates are near the default"));
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.Measure(set.workload, batch));
    if (set.schedules.empty()) {
      if (measurements[0].outcome() != Measurement::OK) {
        return absl::InternalError(
            absl::StrCat("the default schedule: ", measurements[0].message()));
      }
      set.default_ns = LatencyNs(measurements[0]);
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      const double ns = LatencyNs(measurements[i]);
      if (!(ns <= slowest * set.default_ns) ||
          static_cast<int>(set.schedules.size()) >= count) {
        continue;
      }
      set.schedules.push_back(std::move(batch[i]));
      sum_ns += ns;
    }
    batch.clear();
  }
  set.mean_ns = sum_ns / count;
  return set;
}

absl::StatusOr<PassResult> RunPass(const CandidateSet& candidates,
                                   const ParallelMeasurerOptions& options,
                                   measure::WorkerPool* pool) {
  ParallelMeasurer measurer(pool, options);
  PassResult result;
  measurer.set_on_round([&](const measure::RoundReport& round) {
    result.repeated += round.repeated;
    result.failures += round.failures;
    result.degree += round.degree * round.candidates;
  });
  const absl::Span<const sketch::ScheduleProto> all = candidates.schedules;
  const ForeignLoad load;
  const int64_t start_ns = RealClock()->WallNs();
  for (size_t begin = 0; begin < all.size(); begin += kBatch) {
    TW_ASSIGN_OR_RETURN(
        const std::vector<Measurement> measurements,
        measurer.Measure(candidates.workload, all.subspan(begin, kBatch)));
    for (const Measurement& measurement : measurements) {
      result.latencies_ns.push_back(LatencyNs(measurement, options.compared));
      result.samples += static_cast<double>(measurement.latency().n());
    }
  }
  result.samples /= static_cast<double>(all.size());
  result.degree /= static_cast<double>(all.size());
  const std::vector<int> best = measure::SelectTopRanks(result.latencies_ns);
  if (best.empty()) return absl::InternalError("no candidate was measured");
  std::vector<double> final_ns;
  for (const int index : best) {
    final_ns.push_back(result.latencies_ns[static_cast<size_t>(index)]);
  }
  if (options.mode == MeasureMode::kPrecise) {
    std::vector<sketch::ScheduleProto> schedules;
    for (const int index : best) {
      schedules.push_back(all[static_cast<size_t>(index)]);
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.MeasureAlone(candidates.workload, schedules));
    for (size_t i = 0; i < best.size(); ++i) {
      final_ns[i] = LatencyNs(measurements[i], options.compared);
    }
  }
  const auto smallest = std::min_element(
      final_ns.begin(), final_ns.end(), [](double a, double b) {
        return a < b || (std::isnan(b) && !std::isnan(a));
      });
  result.chosen = best[static_cast<size_t>(smallest - final_ns.begin())];
  result.wall_s = static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9;
  result.foreign_percent = load.Percent();
  return result;
}

absl::StatusOr<std::vector<double>> MeasureInterleaved(
    const CandidateSet& candidates, const std::vector<int>& which, int turns,
    int repeats, measure::WorkerPool* pool) {
  ParallelMeasurerOptions options;
  options.mode = MeasureMode::kSerial;
  options.repeats = AdaptiveEvaluatorOptions::Fixed(repeats);
  ParallelMeasurer measurer(pool, options);
  std::vector<sketch::ScheduleProto> schedules;
  for (const int index : which) {
    schedules.push_back(candidates.schedules[static_cast<size_t>(index)]);
  }
  std::vector<std::vector<double>> found(which.size());
  for (int turn = 0; turn < turns; ++turn) {
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements,
                        measurer.MeasureAlone(candidates.workload, schedules));
    for (size_t i = 0; i < which.size(); ++i) {
      const double ns = LatencyNs(measurements[i]);
      if (!std::isnan(ns)) found[i].push_back(ns);
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& values : found) {
    medians.push_back(values.empty() ? kFailed : measure::Median(values));
  }
  return medians;
}

}  // namespace tilewright::bench

#include "measure/parallel/interleaved_rounds.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/stats/latency_summary.h"

namespace tilewright::measure {
namespace {

std::string TurnsOf(absl::Span<const sketch::ScheduleProto> schedules) {
  Fingerprinter all;
  for (const sketch::ScheduleProto& schedule : schedules)
    all.AddString(schedule.SerializeAsString());
  return all.Finish().ToString();
}

void SetLatency(const LatencySummary& summary, LatencySummaryProto& latency) {
  latency.set_n(summary.n);
  latency.set_mean_ns(summary.mean_ns);
  latency.set_median_ns(summary.median_ns);
  latency.set_low_ns(summary.low_ns);
  latency.set_min_ns(summary.min_ns);
  latency.set_stddev_ns(summary.stddev_ns);
}

// Adds a round; false if the candidate takes part no more.
bool AddRound(Measurement measured, Measurement& all) {
  if (measured.outcome() != Measurement::OK) {
    all = std::move(measured);
    return false;
  }
  std::vector<double> rounds(all.rounds_ns().begin(), all.rounds_ns().end());
  rounds.push_back(ComparedNs(measured.latency(), Compared::kLow));
  all = std::move(measured);
  all.mutable_rounds_ns()->Assign(rounds.begin(), rounds.end());
  return true;
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> MeasureInterleaved(
    const WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules, Measurer& measurer,
    const InterleavedOptions& options) {
  std::vector<Measurement> all(schedules.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < schedules.size(); ++i) order.push_back(i);
  MeasureOptions how;
  how.cancellation = options.cancellation;
  for (int round = 0; round < options.rounds && !order.empty(); ++round) {
    std::vector<sketch::ScheduleProto> ordered;
    for (const size_t i : order) ordered.push_back(schedules[i]);
    TW_ASSIGN_OR_RETURN(std::vector<Measurement> measured,
                        measurer.MeasureAlone(workload, ordered, how));
    std::vector<size_t> left;
    for (size_t k = 0; k < order.size(); ++k) {
      if (AddRound(std::move(measured[k]), all[order[k]]))
        left.push_back(order[k]);
    }
    order = std::move(left);
    std::reverse(order.begin(), order.end());
  }
  const std::string turns = TurnsOf(schedules);
  for (const size_t i : order) {
    TW_ASSIGN_OR_RETURN(
        const LatencySummary summary,
        SummarizeLatencies(std::vector<double>(all[i].rounds_ns().begin(),
                                               all[i].rounds_ns().end())));
    SetLatency(summary, *all[i].mutable_latency());
    all[i].mutable_method()->set_turns(turns);
  }
  return all;
}

}  // namespace tilewright::measure

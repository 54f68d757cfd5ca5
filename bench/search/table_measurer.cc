#include "bench/search/table_measurer.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "search/candidate.h"
#include "sketch/trace/schedule.h"

namespace tilewright::bench {
namespace {

using measure::Measurement;

constexpr int kBuilders = 2;
constexpr double kFailed = std::numeric_limits<double>::infinity();

}  // namespace

TableMeasurer::TableMeasurer(const SearchTable& table,
                             const measure::AdaptiveEvaluatorOptions& repeats,
                             uint64_t seed, std::function<double()> search_ns)
    : table_(table),
      repeats_(repeats),
      search_ns_(std::move(search_ns)),
      random_(seed) {}

double TableMeasurer::Execute(const TableEntry& entry) {
  measure::AdaptiveEvaluator evaluator(repeats_, &clock_);
  while (const int repeats = evaluator.NextRepeats()) {
    std::vector<double> latencies_ns;
    while (static_cast<int>(latencies_ns.size()) < repeats &&
           !evaluator.IsTimeOver(static_cast<int>(latencies_ns.size()))) {
      const double ns =
          entry.samples_ns[random_.Index(entry.samples_ns.size())];
      clock_.AdvanceIdle(static_cast<int64_t>(ns));
      latencies_ns.push_back(ns);
    }
    TW_CHECK_OK(evaluator.Add(latencies_ns));
  }
  return evaluator.latency_ns();
}

absl::StatusOr<std::vector<Measurement>> TableMeasurer::DoMeasure(
    const measure::MeasureBatch& batch) {
  if (search_ns_) clock_.AdvanceIdle(static_cast<int64_t>(search_ns_()));
  std::vector<const TableEntry*> entries;
  for (const sketch::ScheduleProto& proto : batch.schedules) {
    TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                        sketch::Schedule::FromProto(proto));
    entries.push_back(table_.Find(search::TraceOf(schedule)));
    if (entries.back() == nullptr)
      return absl::NotFoundError("not a schedule of the table");
    clock_.AdvanceIdle(
        static_cast<int64_t>(entries.back()->build_ns / kBuilders));
  }
  std::vector<Measurement> results;
  for (const TableEntry* entry : entries) {
    clock_.AdvanceIdle(static_cast<int64_t>(entry->overhead_ns));
    Measurement result;
    result.set_outcome(entry->outcome);
    Seen seen{0, kFailed, kFailed};
    if (entry->outcome == Measurement::OK) {
      seen.seen_ns = Execute(*entry);
      seen.true_ns = entry->ns;
      measure::LatencySummaryProto& latency = *result.mutable_latency();
      latency.set_n(1);
      latency.set_mean_ns(seen.seen_ns);
      latency.set_median_ns(seen.seen_ns);
      latency.set_min_ns(seen.seen_ns);
      latency.set_low_ns(seen.seen_ns);
    } else {
      result.set_message("failed when the table was made");
      result.set_fault(Measurement::CANDIDATE);
    }
    seen.seconds = static_cast<double>(clock_.WallNs()) * 1e-9;
    seen_.push_back(seen);
    results.push_back(result);
    if (batch.options.on_result)
      batch.options.on_result(static_cast<int>(results.size()) - 1, result);
  }
  return results;
}

}  // namespace tilewright::bench

#include "search/prior_records.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/stats/latency_summary.h"
#include "search/candidate.h"
#include "search/record_identity.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"

namespace tilewright::search {
namespace {

using measure::Measurement;

// Infinity if it failed.
double TimeOf(const Measurement& measurement) {
  return measurement.outcome() == Measurement::OK
             ? measure::ComparedNs(measurement.latency(),
                                   measure::Compared::kLow)
             : std::numeric_limits<double>::infinity();
}

bool Counts(const measure::Record& record, const measure::Record& header) {
  const Measurement& measurement = record.measurement();
  if (record.seed() == header.seed() || MadeBy(record) != MadeBy(header) ||
      !IsAboutTheCandidate(measurement) || IsOfAComparison(measurement))
    return false;
  return measurement.outcome() != Measurement::OK ||
         MeasuredBy(measurement.method()) ==
             MeasuredBy(header.measurement().method());
}

}  // namespace

absl::StatusOr<PriorRecords> ReadPriorRecords(
    measure::Store& store, const measure::WorkloadKey& workload,
    const measure::Record& header, TaskSpace& space) {
  PriorRecords prior;
  std::map<Fingerprint, size_t> index;
  measure::StoreQuery query;
  query.workload = workload;
  query.structure_fingerprint = header.device().structure_fingerprint();
  const auto use = [&](const measure::Record& record) {
    if (!Counts(record, header)) return absl::OkStatus();
    const auto schedule = sketch::Schedule::FromProto(record.schedule());
    absl::StatusOr<Candidate> candidate = absl::NotFoundError("unreadable");
    if (schedule.ok()) {
      candidate =
          space.FromAnswers(schedule->generator, sketch::AnswersOf(*schedule));
    }
    if (!candidate.ok() || candidate->trace != TraceOf(*schedule)) {
      ++prior.stale;
      return absl::OkStatus();
    }
    const double ns = TimeOf(record.measurement());
    const auto [place, is_new] =
        index.try_emplace(candidate->trace, prior.trials.size());
    if (is_new) {
      prior.trials.push_back({*std::move(candidate), ns});
    } else {
      Trial& trial = prior.trials[place->second];
      const bool worked = std::isfinite(trial.ns) && std::isfinite(ns);
      trial.ns = worked ? std::min(trial.ns, ns) : std::max(trial.ns, ns);
    }
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(store.ForEach(query, use));
  return prior;
}

}  // namespace tilewright::search

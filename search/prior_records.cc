#include "search/prior_records.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <optional>
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
#include "sketch/trace/workload.h"

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

absl::StatusOr<int> LearnFromOtherTasks(measure::Store& store,
                                        const std::set<std::string>& workloads,
                                        const measure::Record& header,
                                        const Features& features, int most,
                                        int first_task, ScoreModel& model) {
  std::deque<measure::Record> latest;
  measure::StoreQuery query;
  query.structure_fingerprint = header.device().structure_fingerprint();
  TW_RETURN_IF_ERROR(store.ForEach(query, [&](const measure::Record& record) {
    if (workloads.count(record.workload().text()) > 0 ||
        !Counts(record, header))
      return absl::OkStatus();
    latest.push_back(record);
    if (static_cast<int>(latest.size()) > most) latest.pop_front();
    return absl::OkStatus();
  }));
  struct Other {
    int task;
    sketch::Workload workload;
  };
  std::map<std::string, std::optional<Other>>
      others;  // none: it is no workload
  int learned = 0;
  for (const measure::Record& record : latest) {
    const auto [place, is_new] = others.try_emplace(record.workload().text());
    if (is_new) {
      auto workload = sketch::ParseWorkload(record.workload().text());
      const int task = first_task + static_cast<int>(others.size()) - 1;
      if (workload.ok()) place->second = {task, *std::move(workload)};
    }
    const auto schedule = sketch::Schedule::FromProto(record.schedule());
    if (!place->second || !schedule.ok()) continue;
    const auto rows = features(place->second->workload, *schedule);
    if (!rows.ok()) continue;
    model.Add(place->second->task, *rows, TimeOf(record.measurement()));
    ++learned;
  }
  return learned;
}

}  // namespace tilewright::search

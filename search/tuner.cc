#include "search/tuner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/stats/latency_summary.h"
#include "search/record_identity.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::search {
namespace {

using measure::Measurement;

constexpr double kNsPerSecond = 1e9;

}  // namespace

Tuner::Tuner(Parts parts, const TunerOptions& options)
    : parts_(std::move(parts)), options_(options), random_(options.seed) {
  if (!parts_.space.uses_rules()) return;
  absl::StatusOr<Candidate> rules = parts_.space.Preferred();
  if (!rules.ok()) return;  // counted by the space
  rules_ = rules->trace;
  AddSeed(*std::move(rules));
}

void Tuner::AddSeed(Candidate candidate) {
  for (const Candidate& seed : seeds_) {
    if (seed.trace == candidate.trace) return;
  }
  seeds_.push_back(std::move(candidate));
}

void Tuner::AddKnown(Candidate candidate, double ns) {
  visited_.insert(candidate.trace);
  AddTrial(std::move(candidate), ns);
}

void Tuner::AddTrial(Candidate candidate, double ns) {
  if (parts_.model != nullptr)
    parts_.model->Add(parts_.task, candidate.features, ns);
  trials_.push_back({std::move(candidate), ns});
  if (!std::isfinite(ns) || (best_ && !(ns < trials_[*best_].ns))) return;
  best_ = trials_.size() - 1;
  last_gain_ = report_.trials;
}

const Trial* Tuner::rules() const {
  for (const Trial& trial : trials_) {
    if (rules_ && trial.candidate.trace == *rules_) return &trial;
  }
  return nullptr;
}

TunerReport Tuner::report() const {
  TunerReport report = report_;
  if (best() != nullptr) report.best_ns = best()->ns;
  if (rules() != nullptr) report.rules_ns = rules()->ns;
  return report;
}

absl::StatusOr<std::vector<Candidate>> Tuner::Propose(int count) {
  Predict predict;
  if (parts_.model != nullptr) {
    TW_RETURN_IF_ERROR(parts_.model->Fit());
    if (parts_.model->fitted()) {
      predict = [this](absl::Span<const Candidate* const> candidates) {
        return parts_.model->Predict(candidates);
      };
    }
  }
  std::vector<Candidate> batch;
  for (const Candidate& seed : seeds_) {
    if (static_cast<int>(batch.size()) < count &&
        visited_.insert(seed.trace).second)
      batch.push_back(seed);
  }
  const int missing = count - static_cast<int>(batch.size());
  if (missing == 0) return batch;
  absl::StatusOr<std::vector<Candidate>> proposed = parts_.method.Propose(
      missing,
      SearchState{parts_.space, visited_, trials_, seeds_, predict, random_});
  // The seeds' candidates are measured before an error counts.
  if (!proposed.ok() && batch.empty()) return proposed.status();
  if (proposed.ok()) {
    for (const Candidate& candidate : *proposed)
      visited_.insert(candidate.trace);
    std::move(proposed->begin(), proposed->end(), std::back_inserter(batch));
  }
  return batch;
}

Measurement Tuner::WithBits(const Candidate& candidate,
                            Measurement measurement) {
  if (!options_.keep_bits || measurement.outcome() != Measurement::OK)
    return measurement;
  const std::string& bits = measurement.verification().bits();
  if (rules_ && candidate.trace == *rules_) rules_bits_ = bits;
  if (!bits.empty() && bits == rules_bits_) return measurement;
  measurement.clear_latency();
  measurement.set_outcome(Measurement::WRONG_ANSWER);
  measurement.set_fault(Measurement::CANDIDATE);
  measurement.set_message(rules_bits_.empty()
                              ? "the rules' kernel has no bits to keep"
                              : "other bits than the rules' kernel computes");
  return measurement;
}

void Tuner::Learn(Candidate candidate, const Measurement& found) {
  const Measurement measurement = WithBits(candidate, found);
  const bool ok = measurement.outcome() == Measurement::OK;
  if (!ok && measurement.outcome() != Measurement::NOT_MEASURED) {
    Failure& failure = failures_[measurement.outcome()];
    if (failure.count++ == 0) failure.first = measurement.message();
    ++report_.failed;
  }
  if (!IsAboutTheCandidate(measurement)) return;
  ++report_.trials;
  AddTrial(
      std::move(candidate),
      ok ? measure::ComparedNs(measurement.latency(), measure::Compared::kLow)
         : std::numeric_limits<double>::infinity());
}

void Tuner::EndIfSpent() {
  const double spent_s =
      static_cast<double>(options_.clock->WallNs() - *began_ns_) / kNsPerSecond;
  if (options_.cancellation != nullptr && options_.cancellation->cancelled()) {
    ended_ = "cancelled";
  } else if (report_.trials >= options_.trials) {
    ended_ = absl::StrCat(report_.trials, " trials");
  } else if (spent_s >= options_.seconds) {
    ended_ = absl::StrCat(options_.seconds, " seconds");
  } else if (options_.patience > 0 &&
             report_.trials - last_gain_ >= options_.patience) {
    ended_ = absl::StrCat("nothing faster in ", report_.trials - last_gain_,
                          " trials");
  }
}

absl::Status Tuner::Round(int most_trials) {
  if (!began_ns_) began_ns_ = options_.clock->WallNs();
  EndIfSpent();
  if (!ended_.empty()) return absl::OkStatus();
  const int64_t start_ns = options_.clock->WallNs();
  TW_ASSIGN_OR_RETURN(std::vector<Candidate> batch,
                      Propose(std::min({options_.batch, most_trials,
                                        options_.trials - report_.trials})));
  const int64_t proposed_ns = options_.clock->WallNs();
  report_.search_s +=
      static_cast<double>(proposed_ns - start_ns) / kNsPerSecond;
  if (batch.empty()) {
    ended_ = "no other candidate was found";
    return absl::OkStatus();
  }
  std::vector<sketch::ScheduleProto> schedules;
  for (const Candidate& candidate : batch)
    schedules.push_back(candidate.schedule.ToProto());
  // Kept as they come: an error loses none. Learned from in order.
  std::vector<Measurement> results(batch.size());
  measure::MeasureOptions how;
  how.cancellation = options_.cancellation;
  how.on_result = [&](int index, const Measurement& measurement) {
    results[static_cast<size_t>(index)] = measurement;
  };
  const absl::Status status =
      parts_.measurer.Measure(parts_.workload, schedules, how).status();
  report_.measure_s +=
      static_cast<double>(options_.clock->WallNs() - proposed_ns) /
      kNsPerSecond;
  const int trials = report_.trials;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (results[i].outcome() != Measurement::OUTCOME_UNSPECIFIED)
      Learn(std::move(batch[i]), results[i]);
  }
  TW_RETURN_IF_ERROR(status);
  EndIfSpent();
  if (ended_.empty() && report_.trials == trials) {
    return absl::UnavailableError(absl::StrCat(
        "the device measures nothing any more: ", results[0].message()));
  }
  return absl::OkStatus();
}

absl::Status Tuner::Run(const std::function<absl::Status()>& after_round) {
  while (ended_.empty()) {
    TW_RETURN_IF_ERROR(Round());
    if (after_round) TW_RETURN_IF_ERROR(after_round());
  }
  return Outcome();
}

absl::Status Tuner::Outcome() const {
  if (best() != nullptr) return absl::OkStatus();
  if (failures_.empty()) {
    const std::string refusals = parts_.space.RefusalText();
    return absl::FailedPreconditionError(
        absl::StrCat("there is no candidate to measure",
                     refusals.empty() ? "" : absl::StrCat(": ", refusals)));
  }
  const auto most = std::max_element(failures_.begin(), failures_.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.second.count < b.second.count;
                                     });
  return absl::FailedPreconditionError(absl::StrCat(
      "none of ", report_.failed, " candidates works: ", most->second.count,
      " ended as ", Measurement::Outcome_Name(most->first),
      ", the first: ", most->second.first));
}

}  // namespace tilewright::search

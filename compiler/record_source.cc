#include "compiler/record_source.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_macros.h"
#include "compiler/version.h"
#include "measure/latency_summary.h"
#include "measure/record.pb.h"
#include "measure/workload_key.h"
#include "sketch/replay.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"

namespace tilewright {
namespace {

using measure::Method;
using measure::Record;

// How much faster a schedule has to be than the rules'.
constexpr double kLeastGain = 0.02;

// The instructions alone: what is built of a schedule.
std::string TraceOf(sketch::Schedule schedule) {
  schedule.decisions.clear();
  return schedule.ToString();
}

// What its loops over tasks are, by axis.
std::vector<sketch::Factors> TasksOf(const sketch::Schedule& schedule) {
  for (const sketch::Instruction& instruction : schedule.instructions) {
    if (instruction.primitive == sketch::Primitive::kGroupTile)
      return instruction.factors;
  }
  return {};
}

// Records with equal keys have comparable times.
std::string MethodKey(const Record& record) {
  const Method& method = record.measurement().method();
  return absl::StrCat(method.timer(), " ", method.cache(), " ",
                      method.threads(), " ", method.degree_of_parallelism(),
                      " ", method.turns(), " ", record.versions().toolchain(),
                      " ", record.versions().driver());
}

struct Candidate {
  sketch::Schedule schedule;
  int64_t unix_ns = 0;
  // By method: the least of the times measured so, with how many threads.
  struct Time {
    double ns = 0;
    int threads = 0;
  };
  std::map<std::string, Time> times;
};

// By trace.
using Candidates = std::map<std::string, Candidate>;

void Add(const Record& record, sketch::Schedule schedule, Candidates& all) {
  Candidate& candidate = all[TraceOf(schedule)];
  if (candidate.times.empty()) {
    candidate.schedule = std::move(schedule);
    candidate.unix_ns = record.unix_ns();
  }
  const double ns = measure::ComparedNs(record.measurement().latency(),
                                        measure::Compared::kLow);
  const auto [place, is_new] = candidate.times.try_emplace(
      MethodKey(record),
      Candidate::Time{ns, record.measurement().method().threads()});
  if (!is_new) place->second.ns = std::min(place->second.ns, ns);
}

// The least of the ratios to the rules' times: with all cores if the tasks are
// others, with any threads else. nullopt: it was not measured like the rules'.
std::optional<double> Ratio(const Candidate& candidate, const Candidate& rules,
                            int cores) {
  const bool same_tasks =
      TasksOf(candidate.schedule) == TasksOf(rules.schedule);
  std::optional<double> least;
  for (const auto& [method, time] : candidate.times) {
    const auto other = rules.times.find(method);
    if (other == rules.times.end() || other->second.ns <= 0) continue;
    if (!same_tasks && time.threads < cores) continue;
    const double ratio = time.ns / other->second.ns;
    least = least ? std::min(*least, ratio) : ratio;
  }
  return least;
}

}  // namespace

absl::StatusOr<std::optional<SourcedSchedule>> RecordSource::Find(
    const sketch::Workload& workload, const sketch::Generator& generator,
    const DeviceSpec& spec) {
  const measure::WorkloadKey key = measure::MakeWorkloadKey(workload);
  const std::string about = absl::StrCat(name_, ": [", key.fingerprint(), "] ");
  measure::StoreQuery query;
  query.workload = key;
  query.structure_fingerprint = StructureFingerprint(spec).ToString();
  query.verified_only = true;
  Candidates candidates;
  int other_versions = 0, unreadable = 0;
  TW_RETURN_IF_ERROR(store_.ForEach(query, [&](const Record& record) {
    if (record.measurement().outcome() != measure::Measurement::OK)
      return absl::OkStatus();
    if (record.versions().code_generation() != kCodeGeneration) {
      ++other_versions;
      return absl::OkStatus();
    }
    absl::StatusOr<sketch::Schedule> schedule =
        sketch::Schedule::FromProto(record.schedule());
    if (schedule.ok()) {
      Add(record, *std::move(schedule), candidates);
    } else {
      ++unreadable;
    }
    return absl::OkStatus();
  }));
  if (other_versions > 0)
    notes_.insert(absl::StrCat(about, other_versions,
                               " records of another version's code are passed "
                               "over: measure again"));
  if (unreadable > 0)
    notes_.insert(absl::StrCat(about, unreadable,
                               " records hold schedules that this version "
                               "cannot read: they are passed over"));
  if (candidates.empty()) return std::nullopt;

  const absl::StatusOr<sketch::Schedule> preferred =
      sketch::GeneratePreferred(generator, workload, spec);
  if (!preferred.ok()) return std::nullopt;
  const auto rules = candidates.find(TraceOf(*preferred));
  if (rules == candidates.end()) {
    notes_.insert(absl::StrCat(
        about,
        "no record of the rules' own schedule, so that none can be told "
        "to be faster: measure that, too"));
    return std::nullopt;
  }
  const int cores = std::max(1, static_cast<int>(spec.unit().cores()));
  // The fastest that replays; of equal ones the first by trace.
  std::vector<std::pair<double, const Candidate*>> faster;
  for (const auto& [trace, candidate] : candidates) {
    const std::optional<double> ratio = Ratio(candidate, rules->second, cores);
    if (ratio && *ratio <= 1 - kLeastGain)
      faster.emplace_back(*ratio, &candidate);
  }
  std::stable_sort(
      faster.begin(), faster.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [ratio, candidate] : faster) {
    const absl::Status replayed =
        sketch::Replay(workload, candidate->schedule).status();
    if (!replayed.ok()) {
      notes_.insert(absl::StrCat(about,
                                 "a faster record no longer replays and is "
                                 "passed over: ",
                                 replayed.message()));
      continue;
    }
    Answers answers;
    for (const sketch::NamedDecision& decision : candidate->schedule.decisions)
      answers.emplace(decision.name, decision.value);
    PreferredPolicy rest;
    TablePolicy table(std::move(answers), rest);
    Decider decider(table);
    const absl::StatusOr<sketch::Schedule> again =
        sketch::Generate(generator, workload, spec, decider);
    SourcedSchedule found;
    found.schedule = candidate->schedule;
    // Otherwise the trace is taken as it is.
    if (again.ok() && TraceOf(*again) == TraceOf(candidate->schedule))
      found.decisions = decider.decisions();
    found.source = absl::StrFormat("record in %s, %.1f %% faster", name_,
                                   100 * (1 / ratio - 1));
    return found;
  }
  return std::nullopt;
}

}  // namespace tilewright

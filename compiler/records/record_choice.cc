#include "compiler/records/record_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/version.h"
#include "measure/stats/latency_summary.h"
#include "sketch/replay/replay.h"

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

// The factors of its parallel loops, by axis.
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
  if (candidate.times.empty()) candidate.schedule = std::move(schedule);
  const double ns = measure::ComparedNs(record.measurement().latency(),
                                        measure::Compared::kLow);
  const auto [place, is_new] = candidate.times.try_emplace(
      MethodKey(record),
      Candidate::Time{ns, record.measurement().method().threads()});
  if (!is_new) place->second.ns = std::min(place->second.ns, ns);
}

// The largest ratio to the rules' times, of methods that both have: with all
// cores if the tasks are others, with any threads else. nullopt: it was not
// measured like the rules'.
std::optional<double> Ratio(const Candidate& candidate, const Candidate& rules,
                            int cores) {
  const bool same_tasks =
      TasksOf(candidate.schedule) == TasksOf(rules.schedule);
  std::optional<double> largest;
  for (const auto& [method, time] : candidate.times) {
    const auto other = rules.times.find(method);
    if (other == rules.times.end() || other->second.ns <= 0) continue;
    if (!same_tasks && time.threads < cores) continue;
    const double ratio = time.ns / other->second.ns;
    largest = largest ? std::max(*largest, ratio) : ratio;
  }
  return largest;
}

// Those whose times count.
Candidates Usable(const std::vector<Record>& records,
                  std::vector<std::string>& notes) {
  Candidates candidates;
  int other_versions = 0, unreadable = 0;
  for (const Record& record : records) {
    if (record.measurement().outcome() != measure::Measurement::OK ||
        !record.measurement().verification().verified())
      continue;
    if (record.versions().code_generation() != kCodeGeneration) {
      ++other_versions;
      continue;
    }
    absl::StatusOr<sketch::Schedule> schedule =
        sketch::Schedule::FromProto(record.schedule());
    if (schedule.ok()) {
      Add(record, *std::move(schedule), candidates);
    } else {
      ++unreadable;
    }
  }
  if (other_versions > 0)
    notes.push_back(absl::StrCat(other_versions,
                                 " records of another version's code are "
                                 "passed over: measure again"));
  if (unreadable > 0)
    notes.push_back(absl::StrCat(unreadable,
                                 " records hold schedules that this version "
                                 "cannot read: they are passed over"));
  return candidates;
}

}  // namespace

std::optional<RecordChoice> ChooseRecord(const std::vector<Record>& records,
                                         const sketch::Workload& workload,
                                         const sketch::Generator& generator,
                                         const DeviceSpec& spec,
                                         std::vector<std::string>& notes) {
  const Candidates candidates = Usable(records, notes);
  if (candidates.empty()) return std::nullopt;
  const absl::StatusOr<sketch::Schedule> preferred =
      sketch::GeneratePreferred(generator, workload, spec);
  if (!preferred.ok()) return std::nullopt;
  const auto rules = candidates.find(TraceOf(*preferred));
  if (rules == candidates.end()) {
    notes.push_back(
        "no record of the rules' own schedule, so that none can be told to be "
        "faster: measure that, too");
    return std::nullopt;
  }
  const int cores = std::max(1, static_cast<int>(spec.unit().cores()));
  std::vector<std::pair<double, const Candidate*>> faster;
  for (const auto& [trace, candidate] : candidates) {
    const std::optional<double> ratio = Ratio(candidate, rules->second, cores);
    if (ratio && *ratio <= 1 - kLeastGain)
      faster.emplace_back(*ratio, &candidate);
  }
  // Among equal ones the first by trace.
  std::stable_sort(
      faster.begin(), faster.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [ratio, candidate] : faster) {
    const absl::Status replayed =
        sketch::Replay(workload, candidate->schedule).status();
    if (replayed.ok()) return RecordChoice{candidate->schedule, 1 / ratio - 1};
    notes.push_back(
        absl::StrCat("a faster record no longer replays and is passed over: ",
                     replayed.message()));
  }
  return std::nullopt;
}

}  // namespace tilewright

#include "compiler/records/record_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/version.h"
#include "measure/stats/paired_ratio.h"
#include "sketch/replay/replay.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"

namespace tilewright {
namespace {

using measure::Method;
using measure::Record;

// A schedule has to be faster than the rules' by so much, beside being faster
// beyond the noise of its comparison.
constexpr double kLeastGain = 0.01;

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

// Records with equal keys are of one comparison: interleaved with each other.
std::string ComparisonKey(const Record& record) {
  const Method& method = record.measurement().method();
  return absl::StrCat(method.timer(), " ", method.cache(), " ",
                      method.threads(), " ", method.turns(), " ",
                      method.model(), " ", record.versions().toolchain(), " ",
                      record.versions().driver());
}

// One candidate's part of a comparison.
struct Rounds {
  std::vector<double> ns;
  int threads = 0;
  std::string model;  // whose runs they are; empty: of the kernel alone
  int number = 0;     // of the record: the later, the larger
};

struct Candidate {
  sketch::Schedule schedule;
  std::map<std::string, Rounds> rounds;  // by comparison, the latest
};

// By trace.
using Candidates = std::map<std::string, Candidate>;

void Add(const Record& record, int number, sketch::Schedule schedule,
         Candidates& all) {
  Candidate& candidate = all[TraceOf(schedule)];
  if (candidate.rounds.empty()) candidate.schedule = std::move(schedule);
  const measure::Measurement& measurement = record.measurement();
  candidate.rounds[ComparisonKey(record)] = {
      {measurement.rounds_ns().begin(), measurement.rounds_ns().end()},
      measurement.method().threads(),
      measurement.method().model(),
      number};
}

// The candidate's latest comparisons with the rules, one for each number of
// threads, of the kernel and of each model.
struct Compared {
  measure::PairedRatio ratio;
  int threads = 0;
  bool in_model = false;
  int number = 0;
};
std::vector<Compared> ComparisonsWith(const Candidate& candidate,
                                      const Candidate& rules) {
  std::map<std::pair<std::string, int>, Compared> latest;
  for (const auto& [key, rounds] : candidate.rounds) {
    const auto other = rules.rounds.find(key);
    if (other == rules.rounds.end()) continue;
    const absl::StatusOr<measure::PairedRatio> ratio =
        measure::CompareRounds(rounds.ns, other->second.ns);
    if (!ratio.ok()) continue;
    Compared& known = latest[{rounds.model, rounds.threads}];
    if (known.ratio.rounds == 0 || known.number < rounds.number) {
      known = {*ratio, rounds.threads, !rounds.model.empty(), rounds.number};
    }
  }
  std::vector<Compared> all;
  for (const auto& [of, compared] : latest) all.push_back(compared);
  return all;
}

// The largest ratio of the kernel's own times to the rules', where that is
// better: nothing says that it is slower, and it is faster alone, with all
// cores if the tasks are others.
std::optional<double> BetterRatio(const Candidate& candidate,
                                  const Candidate& rules, int cores) {
  const bool same_tasks =
      TasksOf(candidate.schedule) == TasksOf(rules.schedule);
  std::optional<double> largest;
  bool is_faster = false;
  for (const Compared& compared : ComparisonsWith(candidate, rules)) {
    if (compared.in_model ? compared.ratio.seems_slower()
                          : compared.ratio.is_slower())
      return std::nullopt;
    if (compared.in_model) continue;
    const double median = compared.ratio.median;
    largest = largest ? std::max(*largest, median) : median;
    is_faster =
        is_faster || (compared.ratio.is_faster() && median <= 1 - kLeastGain &&
                      (same_tasks || compared.threads >= cores));
  }
  return is_faster ? largest : std::nullopt;
}

// As they were measured, whenever they came into the store: stores that hold
// the same records choose the same.
std::vector<const Record*> ByTime(const std::vector<Record>& records) {
  std::vector<const Record*> ordered;
  for (const Record& record : records) ordered.push_back(&record);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Record* a, const Record* b) {
                     return a->unix_ns() < b->unix_ns();
                   });
  return ordered;
}

// Those whose times count.
Candidates Usable(const std::vector<Record>& records,
                  std::vector<std::string>& notes) {
  Candidates candidates;
  int other_versions = 0, unreadable = 0, number = 0;
  for (const Record* const in_order : ByTime(records)) {
    const Record& record = *in_order;
    ++number;
    if (record.measurement().outcome() != measure::Measurement::OK ||
        !record.measurement().verification().verified())
      continue;
    if (record.versions().code_generation() != kCodeGeneration) {
      ++other_versions;
      continue;
    }
    absl::StatusOr<sketch::Schedule> schedule =
        sketch::Schedule::FromProto(record.schedule());
    if (!schedule.ok()) {
      ++unreadable;
    } else if (record.measurement().rounds_ns_size() > 0) {
      Add(record, number, *std::move(schedule), candidates);
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
        "no schedule was compared with the rules' own one as it is now, so "
        "that "
        "none can be told to be faster: tune again");
    return std::nullopt;
  }
  // A kernel has all of a GPU, whatever it is measured with.
  const int cores = GpuLevelsOf(spec)
                        ? 1
                        : std::max(1, static_cast<int>(spec.unit().cores()));
  std::vector<std::pair<double, const Candidate*>> faster;
  for (const auto& [trace, candidate] : candidates) {
    const std::optional<double> ratio =
        BetterRatio(candidate, rules->second, cores);
    if (ratio) faster.emplace_back(*ratio, &candidate);
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

#include "bench/decisions/headroom.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "bench/decisions/kernel_of.h"
#include "measure/record/workload_key.h"
#include "measure/stats/latency_summary.h"
#include "measure/stats/median.h"
#include "sketch/rules/generator.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {
namespace {

using measure::Measurement;
using sketch::Schedule;

double LowNs(const Measurement& measurement) {
  return measure::ComparedNs(measurement.latency(), measure::Compared::kLow);
}

// Latencies of each kernel, by turn, the turns interleaved.
using Turns = std::vector<std::vector<double>>;

absl::StatusOr<Turns> MeasureInterleaved(
    const Searched& searched, absl::Span<const Schedule* const> kernels,
    int turns, measure::Measurer& measurer) {
  std::vector<sketch::ScheduleProto> schedules;
  for (const Schedule* kernel : kernels) schedules.push_back(kernel->ToProto());
  const measure::WorkloadKey key = measure::MakeWorkloadKey(searched.workload);
  Turns latencies_ns(kernels.size());
  for (int turn = 0; turn < turns; ++turn) {
    TW_ASSIGN_OR_RETURN(const std::vector<Measurement> found,
                        measurer.MeasureAlone(key, schedules));
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].outcome() != Measurement::OK) {
        return absl::InternalError(absl::StrCat(
            "a kernel that was right before: ", found[i].message()));
      }
      latencies_ns[i].push_back(LowNs(found[i]));
    }
  }
  return latencies_ns;
}

// The median over the turns of `a`'s time over that of `b`.
double MedianRatio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t turn = 0; turn < a.size(); ++turn)
    ratios.push_back(a[turn] / b[turn]);
  return measure::Median(std::move(ratios));
}

// Takes one source's kernels after screening: counts them, and returns the
// fastest ones.
std::vector<const Schedule*> Finalists(const DrawnTables& drawn,
                                       absl::Span<const Measurement> found,
                                       size_t finalists,
                                       SourceHeadroom& source) {
  std::vector<std::pair<double, const Schedule*>> right;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].outcome() == Measurement::OK) {
      right.emplace_back(LowNs(found[i]), &drawn.different[i]);
      continue;
    }
    const bool wrong = found[i].outcome() == Measurement::WRONG_ANSWER;
    ++(wrong ? source.wrong : source.failed);
    source.faults.push_back(
        absl::StrCat(wrong ? "wrong: " : "failed: ", found[i].message()));
  }
  std::stable_sort(
      right.begin(), right.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Schedule*> fastest;
  for (size_t i = 0; i < std::min(finalists, right.size()); ++i)
    fastest.push_back(right[i].second);
  return fastest;
}

struct Drawn {
  DrawnTables random, mutated;
};

// Measures every kernel once, alone. The finalists point into `drawn`.
absl::Status Screen(const Searched& searched, const Drawn& drawn,
                    const HeadroomOptions& options,
                    const NewMeasurer& new_measurer, Headroom& headroom,
                    std::vector<const Schedule*>& random,
                    std::vector<const Schedule*>& mutated) {
  std::vector<sketch::ScheduleProto> schedules = {headroom.rule.ToProto()};
  for (const DrawnTables* tables : {&drawn.random, &drawn.mutated}) {
    for (const Schedule& schedule : tables->different)
      schedules.push_back(schedule.ToProto());
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Measurer> measurer,
                      new_measurer(options.screening));
  TW_ASSIGN_OR_RETURN(
      const std::vector<Measurement> found,
      measurer->Measure(measure::MakeWorkloadKey(searched.workload),
                        schedules));
  if (found[0].outcome() != Measurement::OK) {
    return absl::InternalError(
        absl::StrCat("the rule's kernel: ", found[0].message()));
  }
  const absl::Span<const Measurement> others =
      absl::MakeConstSpan(found).subspan(1);
  const size_t randoms = drawn.random.different.size();
  const size_t finalists = static_cast<size_t>(options.finalists);
  random = Finalists(drawn.random, others.subspan(0, randoms), finalists,
                     headroom.random);
  mutated = Finalists(drawn.mutated, others.subspan(randoms), finalists,
                      headroom.mutated);
  return absl::OkStatus();
}

// The best finalist of a source, and how much faster than the rule's it seems.
struct Winner {
  const Schedule* schedule = nullptr;
  double ratio = 0;
};

Winner Best(absl::Span<const Schedule* const> finalists,
            absl::Span<const std::vector<double>> latencies_ns,
            const std::vector<double>& rule_ns) {
  Winner winner;
  for (size_t i = 0; i < finalists.size(); ++i) {
    const double ratio = MedianRatio(rule_ns, latencies_ns[i]);
    if (ratio > winner.ratio) winner = {finalists[i], ratio};
  }
  return winner;
}

// `schedule` as if it decided `name` as the rule does; none if that is no
// kernel.
std::optional<Schedule> WithRules(const Searched& searched,
                                  const Schedule& rule,
                                  const Schedule& schedule,
                                  const std::string& name) {
  const Answers by_rule = sketch::AnswersOf(rule);
  Answers answers = sketch::AnswersOf(schedule);
  answers.erase(name);
  const auto given = by_rule.find(name);
  if (given != by_rule.end()) answers.insert(*given);
  absl::StatusOr<Schedule> changed = sketch::GenerateWith(
      searched.generator, searched.workload, searched.codegen.spec(), answers);
  if (!changed.ok() ||
      !KernelOf(searched.workload, *changed, searched.codegen).ok()) {
    return std::nullopt;
  }
  return *std::move(changed);
}

// The names of decisions in which they differ, in the order of the rule's.
std::vector<std::string> DifferentNames(const Schedule& rule,
                                        const Schedule& other) {
  const Answers by_rule = sketch::AnswersOf(rule);
  const Answers others = sketch::AnswersOf(other);
  std::vector<std::string> names;
  for (const auto& [name, value] : rule.decisions) {
    const auto found = others.find(name);
    if (found == others.end() || found->second != value) names.push_back(name);
  }
  for (const auto& [name, value] : other.decisions)
    if (by_rule.count(name) == 0) names.push_back(name);
  return names;
}

// Gives decisions back to the rule, one after the other. Each attempt is
// measured beside `best` itself, so that small losses do not add up.
absl::StatusOr<Schedule> Prune(const Searched& searched,
                               const HeadroomOptions& options,
                               const Schedule& rule, const Schedule& best,
                               measure::Measurer& measurer) {
  Schedule pruned = best;
  for (const std::string& name : DifferentNames(rule, best)) {
    const std::optional<Schedule> attempt =
        WithRules(searched, rule, pruned, name);
    if (!attempt || DifferentNames(rule, *attempt).size() >=
                        DifferentNames(rule, pruned).size()) {
      continue;
    }
    const absl::StatusOr<Turns> turns = MeasureInterleaved(
        searched, {&best, &*attempt}, options.turns, measurer);
    // An attempt may well be no kernel that is built or right.
    if (!turns.ok()) continue;
    if (MedianRatio((*turns)[0], (*turns)[1]) >= options.keeps_speed)
      pruned = *attempt;
  }
  return pruned;
}

// The best of each source's finalists, and the better one of both pruned.
absl::Status Final(const Searched& searched, const HeadroomOptions& options,
                   absl::Span<const Schedule* const> random,
                   absl::Span<const Schedule* const> mutated,
                   const NewMeasurer& new_measurer, Headroom& headroom) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Measurer> measurer,
                      new_measurer(options.comparing));
  std::vector<const Schedule*> finalists = {&headroom.rule};
  finalists.insert(finalists.end(), random.begin(), random.end());
  finalists.insert(finalists.end(), mutated.begin(), mutated.end());
  TW_ASSIGN_OR_RETURN(
      const Turns finals,
      MeasureInterleaved(searched, finalists, options.turns, *measurer));
  const absl::Span<const std::vector<double>> others =
      absl::MakeConstSpan(finals).subspan(1);
  const Winner best_random =
      Best(random, others.subspan(0, random.size()), finals[0]);
  const Winner best_mutated =
      Best(mutated, others.subspan(random.size()), finals[0]);
  const Winner& best =
      best_random.ratio > best_mutated.ratio ? best_random : best_mutated;
  if (best.schedule != nullptr) {
    TW_ASSIGN_OR_RETURN(headroom.pruned, Prune(searched, options, headroom.rule,
                                               *best.schedule, *measurer));
  }
  if (best_random.schedule != nullptr)
    headroom.random.best = *best_random.schedule;
  if (best_mutated.schedule != nullptr)
    headroom.mutated.best = *best_mutated.schedule;
  return absl::OkStatus();
}

// Rule, winners and pruned table interleaved, in new processes.
absl::Status Compare(const Searched& searched, const HeadroomOptions& options,
                     const NewMeasurer& new_measurer, Headroom& headroom) {
  // The rule's kernel begins and ends every turn.
  std::vector<const Schedule*> compared = {&headroom.rule};
  std::vector<std::optional<Speedup>*> speedups;
  const auto add = [&](const std::optional<Schedule>& schedule,
                       std::optional<Speedup>& speedup) {
    if (!schedule) return;
    compared.push_back(&*schedule);
    speedups.push_back(&speedup);
  };
  add(headroom.random.best, headroom.random.speedup);
  add(headroom.mutated.best, headroom.mutated.speedup);
  add(headroom.pruned, headroom.pruned_speedup);
  compared.push_back(&headroom.rule);

  std::vector<std::vector<double>> medians(compared.size());
  std::vector<double> rules_ns;
  for (int process = 0; process < options.processes; ++process) {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Measurer> fresh,
                        new_measurer(options.comparing));
    TW_ASSIGN_OR_RETURN(
        const Turns turns,
        MeasureInterleaved(searched, compared, options.turns, *fresh));
    std::vector<double> rule_ns;
    for (size_t turn = 0; turn < turns[0].size(); ++turn)
      rule_ns.push_back((turns.front()[turn] + turns.back()[turn]) / 2);
    rules_ns.push_back(measure::Median(rule_ns));
    for (size_t i = 1; i < compared.size(); ++i) {
      const bool is_rule = i + 1 == compared.size();
      medians[i].push_back(
          MedianRatio(is_rule ? turns.front() : rule_ns, turns[i]));
    }
  }
  headroom.rule_us = measure::Median(std::move(rules_ns)) * 1e-3;
  for (size_t i = 0; i < speedups.size(); ++i)
    *speedups[i] = SpeedupOf(medians[i + 1]);
  headroom.again = SpeedupOf(medians.back());
  return absl::OkStatus();
}

}  // namespace

Speedup SpeedupOf(std::vector<double> medians) {
  TW_CHECK(!medians.empty());
  const auto [least, most] =
      std::minmax_element(medians.begin(), medians.end());
  const double least_value = *least, most_value = *most;
  return {measure::Median(std::move(medians)), least_value, most_value};
}

absl::StatusOr<Headroom> FindHeadroom(const Searched& searched,
                                      const HeadroomOptions& options,
                                      const NewMeasurer& new_measurer) {
  Headroom headroom;
  TW_ASSIGN_OR_RETURN(headroom.rule, sketch::GeneratePreferred(
                                         searched.generator, searched.workload,
                                         searched.codegen.spec()));
  TW_ASSIGN_OR_RETURN(
      const Fingerprint rule_kernel,
      KernelOf(searched.workload, headroom.rule, searched.codegen));
  const auto draw = [&](TableSource from, SourceHeadroom& source) {
    DrawnTables drawn =
        DrawTables(searched, rule_kernel, from, options.draws, options.seed);
    source.drawn = options.draws;
    source.refused = drawn.refused;
    source.equal = drawn.equal;
    return drawn;
  };
  const Drawn drawn = {draw(TableSource::kRandom, headroom.random),
                       draw(TableSource::kMutated, headroom.mutated)};
  std::vector<const Schedule*> random, mutated;
  TW_RETURN_IF_ERROR(Screen(searched, drawn, options, new_measurer, headroom,
                            random, mutated));
  TW_RETURN_IF_ERROR(
      Final(searched, options, random, mutated, new_measurer, headroom));
  TW_RETURN_IF_ERROR(Compare(searched, options, new_measurer, headroom));
  return headroom;
}

std::string DifferenceOf(const Schedule& rule, const Schedule& other) {
  const Answers by_rule = sketch::AnswersOf(rule);
  const Answers others = sketch::AnswersOf(other);
  const auto value = [](const Answers& answers, const std::string& name) {
    const auto found = answers.find(name);
    return found == answers.end() ? std::string("-") : found->second;
  };
  std::string text;
  for (const std::string& name : DifferentNames(rule, other)) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", name, ": ",
                    value(by_rule, name), " -> ", value(others, name));
  }
  return text;
}

}  // namespace tilewright::bench

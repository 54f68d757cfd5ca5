#include "tools/tune/finals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/parallel/interleaved_rounds.h"
#include "measure/stats/latency_summary.h"
#include "measure/stats/rank_selection.h"
#include "sketch/trace/schedule.pb.h"
#include "tilegraph/decision/table.h"

namespace tilewright::tools {
namespace {

using measure::Measurement;
using sketch::ScheduleProto;

// Candidates that seem faster than this share of the rules' time are compared.
constexpr double kWorthComparing = 0.997;
constexpr size_t kMostExplained = 8;

// The rules' own schedule first, then the best; nothing if none seems faster.
std::vector<sketch::Schedule> FinalsOf(const search::Tuner& tuner) {
  const search::Trial* const rules = tuner.rules();
  if (rules == nullptr || !std::isfinite(rules->ns)) return {};
  std::vector<double> ns;
  for (const search::Trial& trial : tuner.trials()) {
    const bool seems_faster = trial.ns < kWorthComparing * rules->ns;
    ns.push_back(seems_faster ? trial.ns : NAN);
  }
  std::vector<sketch::Schedule> finals;
  for (const int i : measure::SelectTopRanks(ns))
    finals.push_back(tuner.trials()[static_cast<size_t>(i)].candidate.schedule);
  if (!finals.empty()) finals.insert(finals.begin(), rules->candidate.schedule);
  return finals;
}

// A model's runs, as of one of its kernels.
Measurement OfModel(const std::vector<double>& rounds_ns,
                    const std::string& model, const std::string& turns,
                    measure::Method::Timer timer, int threads) {
  Measurement measurement;
  measurement.set_outcome(Measurement::OK);
  measurement.mutable_rounds_ns()->Assign(rounds_ns.begin(), rounds_ns.end());
  const auto summary = measure::SummarizeLatencies(rounds_ns);
  if (summary.ok()) {
    measure::LatencySummaryProto& latency = *measurement.mutable_latency();
    latency.set_n(summary->n);
    latency.set_mean_ns(summary->mean_ns);
    latency.set_median_ns(summary->median_ns);
    latency.set_low_ns(summary->low_ns);
    latency.set_min_ns(summary->min_ns);
    latency.set_stddev_ns(summary->stddev_ns);
  }
  measure::Method& method = *measurement.mutable_method();
  method.set_timer(threads == 1 ? timer : measure::Method::WALL_CLOCK);
  method.set_cache(measure::Method::WARM);
  method.set_repeats(static_cast<int>(rounds_ns.size()));
  method.set_degree_of_parallelism(1);
  method.set_threads(threads);
  method.set_turns(turns);
  method.set_model(model);
  // Both kernels were, before they were compared.
  measurement.mutable_verification()->set_verified(true);
  measurement.mutable_verification()->set_reference("float64 loops");
  return measurement;
}

std::string TurnsOf(const std::string& model,
                    const search::ModelComparison& comparison,
                    const std::vector<TaskWinner>& winners) {
  Fingerprinter all;
  all.AddString(model);
  for (size_t i = 0; i < winners.size(); ++i) {
    if (comparison.tuned[i])
      all.AddString(winners[i].schedule.schedule.ToString());
  }
  return all.Finish().ToString();
}

// Whether the comparison decided about the task: that of all that stay, or the
// one that showed that the model is slower with it.
bool Decided(const search::ModelRanking& ranking,
             const search::ModelComparison& comparison, size_t task) {
  return ranking.kept[task]
             ? comparison.tuned == ranking.kept
             : comparison.tuned[task] && comparison.ratio.seems_slower();
}

}  // namespace

absl::StatusOr<ComparedFinals> CompareBest(const ModelTask& task,
                                           measure::Measurer& measurer,
                                           const ComparedFinals* verified,
                                           search::RecordedMeasurer& records,
                                           const Cancellation& cancellation,
                                           std::vector<std::string>& failures) {
  const std::vector<sketch::Schedule> finals = FinalsOf(*task.tuner);
  ComparedFinals found;
  if (finals.empty()) return found;
  std::vector<ScheduleProto> schedules;
  for (const sketch::Schedule& schedule : finals)
    schedules.push_back(schedule.ToProto());
  measure::InterleavedOptions how;
  how.cancellation = &cancellation;
  TW_ASSIGN_OR_RETURN(
      std::vector<Measurement> compared,
      measure::MeasureInterleaved(task.workload, schedules, measurer, how));
  for (size_t i = 0; i < finals.size(); ++i) {
    const std::string text = finals[i].ToString();
    if (compared[i].outcome() != Measurement::OK &&
        compared[i].outcome() != Measurement::NOT_MEASURED) {
      failures.push_back(absl::StrCat(
          task.name, i == 0 ? ": the rules' own" : ": one of the best", " is ",
          Measurement::Outcome_Name(compared[i].outcome()), ": ",
          compared[i].message()));
    }
    if (verified != nullptr && verified->count(text) == 1 &&
        compared[i].outcome() == Measurement::OK)
      *compared[i].mutable_verification() = verified->at(text).verification;
    const auto ratio = measure::CompareRounds(compared[i].rounds_ns(),
                                              compared[0].rounds_ns());
    if (ratio.ok()) found[text] = {*ratio, compared[i].verification()};
  }
  TW_RETURN_IF_ERROR(
      records.KeepComparison(task.workload, schedules, compared));
  return found;
}

absl::StatusOr<std::vector<TaskWinner>> ChooseWinners(
    const std::vector<ModelTask>& tasks, const DeviceSpec& spec,
    RecordSource& source) {
  std::vector<TaskWinner> winners;
  for (const ModelTask& task : tasks) {
    TW_ASSIGN_OR_RETURN(std::optional<SourcedSchedule> found,
                        source.Find(task.space->workload(), task.rules, spec));
    winners.push_back({task.workload.text(), {}});
    if (found) winners.back().schedule = *std::move(found);
  }
  return winners;
}

absl::StatusOr<search::ModelRanking> RankWinners(
    const std::vector<ModelTask>& tasks, const std::vector<TaskWinner>& winners,
    const std::string& model, measure::Method::Timer timer,
    const std::vector<int>& threads, search::ModelEvaluator& evaluator,
    search::RecordedMeasurer& records) {
  std::vector<size_t> ranked;
  for (size_t i = 0; i < winners.size(); ++i) {
    if (!winners[i].schedule.source.empty() &&
        tasks[i].tuner->rules() != nullptr)
      ranked.push_back(i);
  }
  const auto saved_ns = [&](size_t task) {
    const search::TunerReport report = tasks[task].tuner->report();
    return tasks[task].scheduled.weight * (report.rules_ns - report.best_ns);
  };
  std::stable_sort(ranked.begin(), ranked.end(), [&](size_t a, size_t b) {
    return saved_ns(a) > saved_ns(b);
  });
  search::RankInModelOptions options;
  options.threads = threads;
  TW_ASSIGN_OR_RETURN(
      search::ModelRanking ranking,
      search::RankInModel(tasks.size(), ranked, evaluator, options));
  for (const search::ModelComparison& one : ranking.comparisons) {
    const std::string turns = TurnsOf(model, one, winners);
    for (const size_t task : ranked) {
      if (!Decided(ranking, one, task)) continue;
      const std::vector<ScheduleProto> schedules = {
          winners[task].schedule.schedule.ToProto(),
          tasks[task].tuner->rules()->candidate.schedule.ToProto()};
      const std::vector<Measurement> measurements = {
          OfModel(one.rounds.tuned_ns, model, turns, timer, one.threads),
          OfModel(one.rounds.rules_ns, model, turns, timer, one.threads)};
      TW_RETURN_IF_ERROR(records.KeepComparison(tasks[task].workload, schedules,
                                                measurements));
    }
  }
  return ranking;
}

absl::StatusOr<std::vector<ChangedDecision>> ExplainWinner(
    const ModelTask& task, const TaskWinner& winner,
    measure::Measurer& measurer, const Cancellation& cancellation) {
  std::vector<ChangedDecision> changes;
  const sketch::Schedule& schedule = winner.schedule.schedule;
  const search::Trial* const by_rule = task.tuner->rules();
  if (by_rule == nullptr) return changes;
  if (schedule.generator != task.rules.name) {
    changes.push_back({"generator", task.rules.name, schedule.generator, {}});
    return changes;
  }
  const Answers rules = tilewright::AnswersOf(by_rule->candidate.table);
  const Answers won = sketch::AnswersOf(schedule);
  std::vector<ScheduleProto> schedules = {schedule.ToProto()};
  std::vector<size_t> of;  // the change that each but the first gives back
  for (const auto& [name, value] : won) {
    const auto rule = rules.find(name);
    if (rule != rules.end() && rule->second == value) continue;
    changes.push_back(
        {name, rule == rules.end() ? "" : rule->second, value, {}});
    if (rule == rules.end() || of.size() >= kMostExplained) continue;
    Answers back = won;
    back[name] = rule->second;
    const auto candidate = task.space->FromAnswers(schedule.generator, back);
    if (!candidate.ok()) continue;
    schedules.push_back(candidate->schedule.ToProto());
    of.push_back(changes.size() - 1);
  }
  if (of.empty()) return changes;
  measure::InterleavedOptions how;
  how.cancellation = &cancellation;
  TW_ASSIGN_OR_RETURN(
      const std::vector<Measurement> measured,
      measure::MeasureInterleaved(task.workload, schedules, measurer, how));
  for (size_t i = 0; i < of.size(); ++i) {
    const auto gain = measure::CompareRounds(measured[i + 1].rounds_ns(),
                                             measured[0].rounds_ns());
    if (gain.ok()) changes[of[i]].gain = *gain;
  }
  return changes;
}

}  // namespace tilewright::tools

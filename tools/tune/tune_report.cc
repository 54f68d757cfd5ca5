#include "tools/tune/tune_report.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "measure/record/record.pb.h"
#include "search/tuner.h"
#include "base/option_parser.h"

namespace tilewright::tools {
namespace {

using search::TunerReport;

constexpr size_t kTasksDrawn = 10;
constexpr size_t kNameWidth = 44;

int64_t CpuNs() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string MicrosecondsOfNs(double ns) {
  return std::isfinite(ns) ? absl::StrFormat("%.2f us", ns * 1e-3)
                           : std::string("no time yet");
}

std::string Gain(double rules_ns, double best_ns) {
  const double gain = rules_ns / best_ns;
  return std::isfinite(gain) ? absl::StrFormat("%.3fx", gain) : "";
}

// "3 failed: 2 WRONG_ANSWER, the first: ...; 1 TIMEOUT, ...", or "".
std::string FailureText(const search::Failures& failures) {
  if (failures.empty()) return "";
  std::vector<std::pair<int, std::string>> kinds;
  int count = 0;
  for (const auto& [outcome, failure] : failures) {
    count += failure.count;
    kinds.emplace_back(failure.count,
                       absl::StrCat(failure.count, " ",
                                    measure::Measurement::Outcome_Name(outcome),
                                    ", the first: ", failure.first));
  }
  std::stable_sort(
      kinds.begin(), kinds.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = absl::StrCat(count, " failed");
  for (size_t i = 0; i < kinds.size(); ++i)
    absl::StrAppend(&text, i == 0 ? ": " : "; ", kinds[i].second);
  return text;
}

void AppendRatio(const measure::PairedRatio& ratio, Json& json) {
  json.Open('{').Key("median").Number(ratio.median);
  json.Key("low").Number(ratio.low).Key("high").Number(ratio.high);
  json.Key("rounds").Int(ratio.rounds).Close('}');
}

void AppendFinal(const ModelTask& task, const Final& one, Json& json) {
  const TunerReport report = task.tuner->report();
  json.Open('{').Key("task").Text(task.name);
  json.Key("workload").Text(task.workload.fingerprint());
  json.Key("launches").Int(static_cast<int64_t>(task.scheduled.weight));
  json.Key("trials").Int(report.trials).Key("known").Int(task.known);
  json.Key("failed").Int(report.failed);
  json.Key("best_ns").Number(report.best_ns);
  json.Key("rules_ns").Number(report.rules_ns);
  json.Key("winner").Bool(one.is_winner).Key("stays").Bool(one.stays);
  if (one.ratio.rounds > 0) AppendRatio(one.ratio, json.Key("compared"));
  json.Key("changes").Open('[');
  for (const ChangedDecision& change : one.changes) {
    json.Open('{').Key("name").Text(change.name);
    json.Key("rules").Text(change.rules).Key("winner").Text(change.winner);
    if (change.gain.rounds > 0) AppendRatio(change.gain, json.Key("gain"));
    json.Close('}');
  }
  json.Close(']').Close('}');
}

}  // namespace

TuneReport::TuneReport(TuneReportOptions options,
                       const std::vector<ModelTask>& tasks)
    : options_(std::move(options)),
      tasks_(tasks),
      began_cpu_ns_(CpuNs()),
      terminal_(isatty(STDERR_FILENO) != 0),
      told_(tasks.size(), 0) {
  // Candidates that other runs have found are no trials of this one.
  for (size_t i = 0; i < tasks.size(); ++i)
    told_[i] = tasks[i].tuner->trials().size();
}

TuneReport::~TuneReport() {
  if (trace_ != nullptr) std::fclose(trace_);
}

absl::Status TuneReport::Write(const Json& line) {
  if (trace_ == nullptr ||
      (std::fprintf(trace_, "%s\n", line.text().c_str()) >= 0 &&
       std::fflush(trace_) == 0))
    return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(options_.trace, ": cannot be written"));
}

absl::Status TuneReport::Open(const TuneOptions& how) {
  if (options_.trace.empty()) return absl::OkStatus();
  trace_ = std::fopen(UserPath(options_.trace).c_str(), "w");
  if (trace_ == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(options_.trace, ": cannot be written"));
  }
  Json json;
  json.Open('{').Key("event").Text("run").Key("model").Text(options_.title);
  json.Key("policy").Text(how.policy).Key("optimizer").Text(how.optimizer);
  json.Key("scheduler").Text(how.scheduler);
  json.Key("keep_bits").Bool(how.keep_bits);
  json.Key("seed").Int(static_cast<int64_t>(how.seed));
  json.Key("trials").Int(options_.trials);
  json.Key("seconds").Number(options_.seconds);
  json.Key("tasks").Open('[');
  for (const ModelTask& task : tasks_) {
    json.Open('{').Key("task").Text(task.name);
    json.Key("workload").Text(task.workload.fingerprint());
    json.Key("launches").Int(static_cast<int64_t>(task.scheduled.weight));
    json.Key("least_ns").Number(1e9 * task.scheduled.least_seconds);
    json.Key("known").Int(task.known).Close('}');
  }
  return Write(json.Close(']').Close('}'));
}

TuneReport::Shares TuneReport::SharesSoFar() const {
  const measure::Spent spent =
      options_.pool ? options_.pool().spent : measure::Spent();
  Shares shares;
  shares.search = static_cast<double>(CpuNs() - began_cpu_ns_);
  shares.build = static_cast<double>(spent.building_ns());
  shares.verify =
      static_cast<double>(spent.reference_ns() + spent.packing_ns() +
                          spent.verifying_ns() + spent.comparing_ns());
  shares.measure = static_cast<double>(spent.loading_ns() + spent.placing_ns() +
                                       spent.executing_ns());
  const double all = std::max(
      1.0, shares.search + shares.build + shares.verify + shares.measure);
  for (double* share :
       {&shares.search, &shares.build, &shares.verify, &shares.measure})
    *share /= all;
  return shares;
}

double TuneReport::SecondsLeft(const search::RoundOfTask& round) const {
  // By trials or by seconds, whichever ends it sooner.
  double left_s = round.trials == 0
                      ? 0
                      : round.spent_s / round.trials *
                            std::max(0, options_.trials - round.trials);
  if (std::isfinite(options_.seconds))
    left_s = std::min(left_s, std::max(0.0, options_.seconds - round.spent_s));
  return left_s;
}

double TuneReport::ModelNs(bool best) const {
  double ns = 0;
  for (const ModelTask& task : tasks_) {
    const TunerReport report = task.tuner->report();
    const double rules =
        std::isfinite(report.rules_ns) ? report.rules_ns : report.best_ns;
    const double one = best ? std::min(report.best_ns, rules) : rules;
    if (std::isfinite(one)) ns += task.scheduled.weight * one;
  }
  return ns;
}

std::string TuneReport::Line(const search::RoundOfTask& round) const {
  const ModelTask& task = tasks_[round.task];
  const TunerReport report = task.tuner->report();
  const std::string failures = FailureText(task.tuner->failures());
  const Shares shares = SharesSoFar();
  return absl::StrFormat(
      "tune: %s: %s, by rule %s; %d of %d trials%s; kernels %s; %.0f s (CPU: "
      "%.0f %% search, %.0f %% build, %.0f %% verify, %.0f %% measure), about "
      "%.0f s left\n",
      task.name, MicrosecondsOfNs(report.best_ns),
      MicrosecondsOfNs(report.rules_ns),
      round.trials, options_.trials,
      failures.empty() ? "" : absl::StrCat(", ", failures),
      Gain(ModelNs(false), ModelNs(true)), round.spent_s, 100 * shares.search,
      100 * shares.build, 100 * shares.verify, 100 * shares.measure,
      SecondsLeft(round));
}

std::string TuneReport::Picture(const search::RoundOfTask& round) const {
  const Shares shares = SharesSoFar();
  std::string text = absl::StrFormat(
      "%s: %d of %d trials, %.1f candidates a second; %.0f s, about %.0f s "
      "left\n"
      "kernels by rule %s, best so far %s (%s)\n"
      "CPU: %.0f %% search, %.0f %% build, %.0f %% verify, %.0f %% measure\n",
      options_.title, round.trials, options_.trials,
      round.trials / std::max(1e-9, round.spent_s), round.spent_s,
      SecondsLeft(round), MicrosecondsOfNs(ModelNs(false)),
      MicrosecondsOfNs(ModelNs(true)), Gain(ModelNs(false), ModelNs(true)),
      100 * shares.search, 100 * shares.build, 100 * shares.verify,
      100 * shares.measure);
  std::vector<size_t> order(tasks_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto share = [&](size_t i) {
    const double ns = tasks_[i].tuner->report().rules_ns;
    return std::isfinite(ns) ? tasks_[i].scheduled.weight * ns : 0;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return share(a) > share(b); });
  order.resize(std::min(order.size(), kTasksDrawn));
  for (const size_t i : order) {
    const TunerReport report = tasks_[i].tuner->report();
    absl::StrAppendFormat(
        &text, "%c %-*s x%-3.0f by rule %12s  best %12s %8s %5d trials\n",
        i == round.task ? '>' : ' ', kNameWidth,
        tasks_[i].name.substr(0, kNameWidth), tasks_[i].scheduled.weight,
        MicrosecondsOfNs(report.rules_ns), MicrosecondsOfNs(report.best_ns),
        Gain(report.rules_ns, report.best_ns), report.trials);
  }
  search::Failures all;
  for (const ModelTask& task : tasks_) {
    for (const auto& [outcome, failure] : task.tuner->failures()) {
      search::Failure& sum = all[outcome];
      if (sum.count == 0) sum.first = failure.first;
      sum.count += failure.count;
    }
  }
  const std::string failures = FailureText(all);
  if (!failures.empty()) absl::StrAppend(&text, failures.substr(0, 160), "\n");
  return text;
}

absl::Status TuneReport::Round(const search::RoundOfTask& round) {
  if (!options_.quiet && terminal_) {
    const std::string picture = Picture(round);
    if (drawn_lines_ > 0) std::fprintf(stderr, "\033[%dA\033[J", drawn_lines_);
    std::fputs(picture.c_str(), stderr);
    drawn_lines_ =
        static_cast<int>(std::count(picture.begin(), picture.end(), '\n'));
  } else if (!options_.quiet) {
    std::fputs(Line(round).c_str(), stderr);
  }
  const ModelTask& task = tasks_[round.task];
  const TunerReport report = task.tuner->report();
  const Shares shares = SharesSoFar();
  Json json;
  json.Open('{').Key("event").Text("round").Key("task").Text(task.name);
  json.Key("workload").Text(task.workload.fingerprint());
  json.Key("trials").Int(round.trials).Key("task_trials").Int(report.trials);
  json.Key("failed").Int(report.failed);
  json.Key("best_ns").Number(report.best_ns);
  json.Key("rules_ns").Number(report.rules_ns);
  json.Key("search_s").Number(report.search_s);
  json.Key("measure_s").Number(report.measure_s);
  json.Key("spent_s").Number(round.spent_s);
  json.Key("search_share").Number(shares.search);
  json.Key("build_share").Number(shares.build);
  json.Key("verify_share").Number(shares.verify);
  json.Key("measure_share").Number(shares.measure);
  const std::vector<search::Trial>& trials = task.tuner->trials();
  json.Key("ns").Open('[');
  for (size_t& i = told_[round.task]; i < trials.size(); ++i)
    json.Number(trials[i].ns);
  json.Close(']').Key("failures").Open('{');
  for (const auto& [outcome, failure] : task.tuner->failures()) {
    json.Key(measure::Measurement::Outcome_Name(outcome)).Open('{');
    json.Key("count").Int(failure.count);
    json.Key("first").Text(failure.first).Close('}');
  }
  return Write(json.Close('}').Close('}'));
}

void TuneReport::Progress(const std::string& text) {
  if (options_.quiet) return;
  std::fprintf(stderr, "tune: %s\n", text.c_str());
  drawn_lines_ = 0;
}

absl::Status TuneReport::Model(const search::ModelComparison& comparison) {
  const auto tuned =
      std::count(comparison.tuned.begin(), comparison.tuned.end(), true);
  const measure::PairedRatio& ratio = comparison.ratio;
  Progress(absl::StrFormat(
      "the model with %d winners, %d thread%s: %.4f of the time by rule (%.4f "
      "to %.4f)%s",
      tuned, comparison.threads, comparison.threads == 1 ? "" : "s",
      ratio.median, ratio.low, ratio.high,
      ratio.is_slower()   ? ": slower"
      : ratio.is_faster() ? ": faster"
                          : ""));
  Json json;
  json.Open('{').Key("event").Text("model");
  json.Key("threads").Int(comparison.threads).Key("winners").Int(tuned);
  json.Key("tuned_ns").Open('[');
  for (const double ns : comparison.rounds.tuned_ns) json.Number(ns);
  json.Close(']').Key("rules_ns").Open('[');
  for (const double ns : comparison.rounds.rules_ns) json.Number(ns);
  AppendRatio(ratio, json.Close(']').Key("ratio"));
  return Write(json.Close('}'));
}

absl::Status TuneReport::Finals(const std::vector<Final>& finals) {
  Json json;
  json.Open('{').Key("event").Text("finals").Key("tasks").Open('[');
  for (size_t i = 0; i < tasks_.size(); ++i)
    AppendFinal(tasks_[i], finals[i], json);
  return Write(json.Close(']').Close('}'));
}

std::string TuneReport::Summary(const std::vector<Final>& finals,
                                bool json) const {
  if (json) {
    Json all;
    all.Open('[');
    for (size_t i = 0; i < tasks_.size(); ++i)
      AppendFinal(tasks_[i], finals[i], all);
    return all.Close(']').text() + "\n";
  }
  std::string text;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const ModelTask& task = tasks_[i];
    const TunerReport report = task.tuner->report();
    if (report.trials == 0 && task.known == 0) continue;
    const std::string failures = FailureText(task.tuner->failures());
    absl::StrAppend(&text, task.name, ": ", MicrosecondsOfNs(report.best_ns),
                    ", by rule ", MicrosecondsOfNs(report.rules_ns), "; ",
                    report.trials, " trials",
                    failures.empty() ? "" : absl::StrCat(", ", failures));
    if (finals[i].is_winner) {
      absl::StrAppendFormat(&text, "; compared: %.3fx%s",
                            1 / finals[i].ratio.median,
                            finals[i].stays ? "" : ", slower in the model");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace tilewright::tools

#include "tools/commands/tune_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/option_parser.h"
#include "measure/record/record.pb.h"
#include "search/tuner.h"
#include "tools/page/json.h"

namespace tilewright::tools {
namespace {

using search::TunerReport;

std::string Microseconds(double ns) {
  return std::isfinite(ns) ? absl::StrFormat("%.2f us", ns * 1e-3)
                           : std::string("no time yet");
}

// "3 failed (2 WRONG_ANSWER: ...)" of the most frequent kind; or "".
std::string FailuresOf(const search::Tuner& tuner) {
  const search::Failures& failures = tuner.failures();
  if (failures.empty()) return "";
  const auto most = std::max_element(failures.begin(), failures.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.second.count < b.second.count;
                                     });
  return absl::StrCat(", ", tuner.report().failed, " failed (",
                      most->second.count, " ",
                      measure::Measurement::Outcome_Name(most->first), ": ",
                      most->second.first, ")");
}

}  // namespace

TuneReport::TuneReport(const CommandLine& line,
                       const std::vector<TuneTask>& tasks, int trials,
                       double seconds)
    : line_(line), tasks_(tasks), trials_(trials), seconds_(seconds) {}

TuneReport::~TuneReport() {
  if (trace_ != nullptr) std::fclose(trace_);
}

absl::Status TuneReport::Open() {
  if (!line_.Has("trace")) return absl::OkStatus();
  trace_ = std::fopen(UserPath(line_.Get("trace")).c_str(), "w");
  if (trace_ != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(line_.Get("trace"), ": cannot be written"));
}

absl::Status TuneReport::Round(const search::RoundOfTask& round) {
  const TuneTask& task = tasks_[round.task];
  const TunerReport report = task.tuner->report();
  // By trials or by seconds, whichever ends it sooner.
  double left_s = round.trials == 0 ? 0
                                    : round.spent_s / round.trials *
                                          std::max(0, trials_ - round.trials);
  if (std::isfinite(seconds_))
    left_s = std::min(left_s, std::max(0.0, seconds_ - round.spent_s));
  double search_s = 0;
  for (const TuneTask& other : tasks_)
    search_s += other.tuner->report().search_s;
  if (!line_.Has("json")) {
    std::fprintf(
        stderr,
        "tune: %s: %s, by rule %s; %d of %d trials%s; %.0f s, %.0f %% of it "
        "searching, about %.0f s left\n",
        task.name.c_str(), Microseconds(report.best_ns).c_str(),
        Microseconds(report.rules_ns).c_str(), round.trials, trials_,
        FailuresOf(*task.tuner).c_str(), round.spent_s,
        100 * search_s / std::max(round.spent_s, 1e-9), left_s);
  }
  if (trace_ == nullptr) return absl::OkStatus();
  Json json;
  json.Open('{').Key("task").Text(task.name);
  json.Key("workload").Text(task.workload.fingerprint());
  json.Key("trials").Int(round.trials);
  json.Key("task_trials").Int(report.trials);
  json.Key("failed").Int(report.failed);
  json.Key("best_ns").Number(report.best_ns);
  json.Key("rules_ns").Number(report.rules_ns);
  json.Key("search_s").Number(report.search_s);
  json.Key("measure_s").Number(report.measure_s);
  json.Key("spent_s").Number(round.spent_s).Close('}');
  if (std::fprintf(trace_, "%s\n", json.text().c_str()) < 0 ||
      std::fflush(trace_) != 0) {
    return absl::UnavailableError(
        absl::StrCat(line_.Get("trace"), ": cannot be written"));
  }
  return absl::OkStatus();
}

std::string TuneReport::Summary() const {
  if (line_.Has("json")) {
    Json json;
    json.Open('[');
    for (const TuneTask& task : tasks_) {
      const TunerReport report = task.tuner->report();
      json.Open('{').Key("task").Text(task.name);
      json.Key("workload").Text(task.workload.fingerprint());
      json.Key("launches").Int(static_cast<int64_t>(task.scheduled.weight));
      json.Key("trials").Int(report.trials);
      json.Key("known").Int(task.known).Key("failed").Int(report.failed);
      json.Key("best_ns").Number(report.best_ns);
      json.Key("rules_ns").Number(report.rules_ns).Close('}');
    }
    return json.Close(']').text() + "\n";
  }
  std::string text;
  for (const TuneTask& task : tasks_) {
    const TunerReport report = task.tuner->report();
    if (report.trials == 0 && task.known == 0) continue;
    const double gain = report.rules_ns / report.best_ns;
    absl::StrAppend(
        &text, task.name, ": ", Microseconds(report.best_ns), ", by rule ",
        Microseconds(report.rules_ns),
        std::isfinite(gain) ? absl::StrFormat(" (%.2fx)", gain) : "", "; ",
        report.trials, " trials", FailuresOf(*task.tuner), "\n");
  }
  return text;
}

}  // namespace tilewright::tools

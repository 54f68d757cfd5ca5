#include "tools/daemon/monitoring/job_history.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tilewright::daemon {

using measure::Measurement;

void JobHistory::Fail(const std::string& kind, const std::string& message) {
  FailureKind& failure = failures_[kind];
  if (failure.count++ == 0) failure.first_message = message;
}

void JobHistory::Add(const measure::TaskEvent& event) {
  last_event_ = event.number;
  if (event.given_up) {
    Fail("GIVEN_UP", "too many workers were lost with it");
    return;
  }
  measure::Record record;
  if (!record.ParseFromString(event.result)) {
    Fail("DAMAGED", absl::StrCat("the result of task ", event.task));
    return;
  }
  WorkloadCurve& curve = curves_[record.workload().fingerprint()];
  if (curve.title.empty())
    curve.title = TitleOfWorkload(record.workload().text());
  ++curve.measured;
  const Measurement& measurement = record.measurement();
  if (measurement.outcome() != Measurement::OK) {
    ++curve.failed;
    Fail(Measurement::Outcome_Name(measurement.outcome()),
         measurement.message());
    return;
  }
  const double ns = measurement.latency().median_ns();
  if (curve.steps.empty() || ns < curve.steps.back().best_ns)
    curve.steps.push_back({curve.measured, ns});
}

std::string TitleOfWorkload(const std::string& text) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  absl::string_view result;
  for (absl::string_view line : lines) {
    if (absl::ConsumePrefix(&line, "return ")) result = line;
  }
  result = result.substr(0, result.find(','));
  for (absl::string_view line : lines) {
    if (!result.empty() && absl::ConsumePrefix(&line, result) &&
        absl::ConsumePrefix(&line, ": ")) {
      return absl::StrCat(result, " ", line.substr(0, line.find(" = ")));
    }
  }
  return std::string(result);
}

}  // namespace tilewright::daemon

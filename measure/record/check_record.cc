#include "measure/record/check_record.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/record/task_id.h"

namespace tilewright::measure {
namespace {

bool IsTime(double ns) { return std::isfinite(ns) && ns >= 0; }

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the record's ", field, " ", what));
}

absl::Status CheckKeys(const Record& record) {
  const WorkloadKey& workload = record.workload();
  if (workload.text().empty()) return Bad("workload.text", "is empty");
  if (workload.fingerprint() != Fingerprint::Of(workload.text()).ToString()) {
    return Bad("workload.fingerprint", "is not that of its text");
  }
  if (!Fingerprint::FromString(record.device().structure_fingerprint()).ok()) {
    return Bad("device.structure_fingerprint", "is no fingerprint");
  }
  if (!record.task_id().empty() && record.task_id() != TaskIdOf(record)) {
    return Bad("task_id", "is not that of its workload, schedule and device");
  }
  if (!record.lease().empty() && record.task_id().empty()) {
    return Bad("task_id", "is empty although it was measured under a lease");
  }
  return absl::OkStatus();
}

absl::Status CheckMethod(const Method& method) {
  if (method.timer() == Method::TIMER_UNSPECIFIED ||
      !Method::Timer_IsValid(method.timer())) {
    return Bad("method.timer", "is missing or unknown");
  }
  if (method.repeats() < 1) return Bad("method.repeats", "is below 1");
  if (method.degree_of_parallelism() < 1) {
    return Bad("method.degree_of_parallelism", "is below 1");
  }
  if (method.threads() < 1) return Bad("method.threads", "is below 1");
  if (!IsTime(method.delta())) return Bad("method.delta", "is no difference");
  return absl::OkStatus();
}

absl::Status CheckLatency(const LatencySummaryProto& latency) {
  if (latency.n() < 1) return Bad("latency.n", "is below 1");
  if (!IsTime(latency.mean_ns()) || !IsTime(latency.median_ns()) ||
      !IsTime(latency.low_ns()) || !IsTime(latency.min_ns()) ||
      !IsTime(latency.stddev_ns())) {
    return Bad("latency", "is negative or not finite");
  }
  if (latency.min_ns() > latency.median_ns()) {
    return Bad("latency.min_ns", "is above the median");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRecord(const Record& record) {
  TW_RETURN_IF_ERROR(CheckKeys(record));
  const Measurement& measurement = record.measurement();
  if (measurement.outcome() == Measurement::OUTCOME_UNSPECIFIED ||
      !Measurement::Outcome_IsValid(measurement.outcome())) {
    return Bad("outcome", "is missing or unknown");
  }
  if (measurement.outcome() == Measurement::NOT_MEASURED) {
    return Bad("outcome", "says that nothing was measured");
  }
  if (measurement.outcome() == Measurement::OK) {
    TW_RETURN_IF_ERROR(CheckLatency(measurement.latency()));
    TW_RETURN_IF_ERROR(CheckMethod(measurement.method()));
  } else if (measurement.has_latency()) {
    return Bad("latency", "is there although the outcome is not OK");
  }
  const Verification& verification = measurement.verification();
  const double share = verification.unbounded_share();
  if (!(share >= 0 && share <= 1)) {
    return Bad("verification.unbounded_share", "is no share: not in [0, 1]");
  }
  if (verification.verified()) {
    if (measurement.outcome() != Measurement::OK) {
      return Bad("verification", "is positive although the outcome is not OK");
    }
    if (verification.reference().empty()) {
      return Bad("verification.reference", "is empty");
    }
  }
  if (!Record().ParseFromString(record.SerializeAsString())) {
    return absl::InvalidArgumentError("a text in the record is not UTF-8");
  }
  return absl::OkStatus();
}

}  // namespace tilewright::measure

#include "tools/daemon/fake_measurer.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"

namespace tilewright::daemon {

using measure::Measurement;
using measure::Method;

sketch::ScheduleProto FakeCandidate(int i) {
  sketch::ScheduleProto schedule;
  sketch::DecisionProto& decision = *schedule.add_decisions();
  decision.set_name("latency_ns");
  decision.set_value(absl::StrCat(i));
  return schedule;
}

std::vector<sketch::ScheduleProto> FakeCandidates(int first, int count) {
  std::vector<sketch::ScheduleProto> schedules;
  for (int i = first; i < first + count; ++i) {
    schedules.push_back(FakeCandidate(i));
  }
  return schedules;
}

measure::WorkloadKey FakeKey(const std::string& text) {
  measure::WorkloadKey key;
  key.set_text(text);
  key.set_fingerprint(Fingerprint::Of(text).ToString());
  return key;
}

measure::Record FakeMade() {
  measure::Record made;
  made.mutable_device()->set_spec("fake");
  made.mutable_device()->set_structure_fingerprint(
      Fingerprint::Of("fake device").ToString());
  made.mutable_versions()->set_code_generation(1);
  return made;
}

absl::StatusOr<std::vector<Measurement>> FakeMeasurer::DoMeasure(
    const measure::MeasureBatch& batch) {
  const measure::MeasureOptions& options = batch.options;
  std::vector<Measurement> results;
  for (const sketch::ScheduleProto& schedule : batch.schedules) {
    Measurement& result = results.emplace_back();
    if (options.cancellation != nullptr && options.cancellation->cancelled()) {
      result.set_outcome(Measurement::NOT_MEASURED);
    } else {
      int ns = 0;
      (void)absl::SimpleAtoi(schedule.decisions(0).value(), &ns);
      result.set_outcome(Measurement::OK);
      Method& method = *result.mutable_method();
      method.set_timer(Method::DEVICE_EVENTS);
      method.set_cache(Method::WARM);
      method.set_repeats(1);
      method.set_degree_of_parallelism(1);
      method.set_threads(1);
      result.mutable_latency()->set_n(1);
      result.mutable_latency()->set_mean_ns(ns);
      result.mutable_latency()->set_median_ns(ns);
      result.mutable_latency()->set_min_ns(ns);
      if (before) before(ns, result);
      ++measured;
    }
    if (options.on_result) {
      options.on_result(static_cast<int>(results.size()) - 1, result);
    }
  }
  return results;
}

}  // namespace tilewright::daemon

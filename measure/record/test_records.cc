#include "measure/record/test_records.h"

#include "base/fingerprint.h"

namespace tilewright::measure {

WorkloadKey KeyOfText(std::string_view text) {
  WorkloadKey key;
  key.set_text(text.data(), text.size());
  key.set_fingerprint(Fingerprint::Of(text).ToString());
  return key;
}

std::string TestDevice() { return Fingerprint::Of("device").ToString(); }

Record FailedTestRecord(std::string_view workload_text,
                        Measurement::Outcome outcome) {
  Record record;
  *record.mutable_workload() = KeyOfText(workload_text);
  record.mutable_device()->set_spec("cpu_x86_64_v4");
  record.mutable_device()->set_structure_fingerprint(TestDevice());
  Versions& versions = *record.mutable_versions();
  versions.set_toolchain("llvm 19.1.7");
  versions.set_driver("linux 6.1");
  versions.set_code_generation(3);
  versions.set_features(2);
  sketch::DecisionProto& decision = *record.mutable_schedule()->add_decisions();
  decision.set_name("tile_m");
  decision.set_value("4x16");
  sketch::InstructionProto& instruction =
      *record.mutable_schedule()->add_instructions();
  instruction.set_primitive("split");
  instruction.add_operands(1);
  Measurement& measurement = *record.mutable_measurement();
  measurement.set_outcome(outcome);
  measurement.set_message("failed");
  measurement.set_build_ns(2'000'000'000);
  measurement.set_duration_ns(70'000);
  record.set_seed(0xffffffffffffffff);
  record.set_unix_ns(1'700'000'000'000'000'000);
  return record;
}

Record TestRecord(std::string_view workload_text, double median_ns) {
  Record record = FailedTestRecord(workload_text, Measurement::OK);
  Measurement& measurement = *record.mutable_measurement();
  measurement.clear_message();
  LatencySummaryProto& latency = *measurement.mutable_latency();
  latency.set_n(60);
  latency.set_mean_ns(median_ns * 1.1);
  latency.set_median_ns(median_ns);
  latency.set_min_ns(median_ns * 0.9);
  latency.set_stddev_ns(median_ns / 3);
  Method& method = *measurement.mutable_method();
  method.set_timer(Method::THREAD_CPU_TIME);
  method.set_cache(Method::COLD);
  method.set_repeats(60);
  method.set_degree_of_parallelism(2);
  method.set_threads(1);
  method.set_delta(0.02);
  Verification& verification = *measurement.mutable_verification();
  verification.set_verified(true);
  verification.set_reference("float64 loops");
  verification.set_largest_error(0.75);
  return record;
}

}  // namespace tilewright::measure

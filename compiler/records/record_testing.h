// Records of one workload, its rules' schedule and others, for tests of what
// reads them.
#ifndef TILEWRIGHT_COMPILER_RECORDS_RECORD_TESTING_H_
#define TILEWRIGHT_COMPILER_RECORDS_RECORD_TESTING_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/spec/load_spec.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_matchers.h"
#include "compiler/kernels/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "measure/record/workload_key.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright {

class RecordsTest : public ::testing::Test {
 protected:
  static sketch::Workload Gemm(int64_t m, int64_t k, int64_t n) {
    return *sketch::ParseWorkload(absl::Substitute(
        "A: f32[$0, $1] = placeholder\n"
        "B: f32[$1, $2] = placeholder\n"
        "T: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 "
        "{ A[m, k] * B[k, n] }\n"
        "return T\n",
        m, k, n));
  }

  explicit RecordsTest(sketch::Workload workload = Gemm(128, 96, 256))
      : workload_(std::move(workload)),
        spec_(*LoadSpec("cpu_x86_64_v4")),
        generator_(sketch::Generators(workload_).front()),
        store_(*measure::Store::Open(NewPath())) {}

  // A file of this test alone.
  static std::string NewPath() {
    const ::testing::TestInfo& test =
        *::testing::UnitTest::GetInstance()->current_test_info();
    const std::string path =
        absl::StrCat(::testing::TempDir(), "/", test.name(), ".db");
    std::remove(path.c_str());
    return path;
  }

  sketch::Schedule With(const Answers& answers) const {
    return *sketch::GenerateWith(generator_, workload_, spec_, answers);
  }
  sketch::Schedule Rules() const { return With({}); }
  // The same tasks as the rules', twice as many tiles of half the rows.
  sketch::Schedule OtherTile() const {
    const sketch::Schedule rules = Rules();
    EXPECT_THAT(rules.ToString(),
                ::testing::HasSubstr("tile = vectors 4, rows 6, outer_rows 1"));
    int64_t steps = 0;
    for (const sketch::NamedDecision& decision : rules.decisions) {
      if (decision.name == "task.rows")
        EXPECT_TRUE(absl::SimpleAtoi(decision.value, &steps));
    }
    return With({{"tile", "vectors 4, rows 3, outer_rows 1"},
                 {"task.rows", absl::StrCat(2 * steps)}});
  }

  // A record of one comparison, in which it took `ns` in each of nine rounds.
  measure::Record RecordOf(const sketch::Schedule& schedule, double ns,
                           int threads = 1) const {
    measure::Record record;
    *record.mutable_workload() = measure::MakeWorkloadKey(workload_);
    record.mutable_device()->set_spec(spec_.name());
    record.mutable_device()->set_structure_fingerprint(
        StructureFingerprint(spec_).ToString());
    record.mutable_versions()->set_code_generation(kCodeGeneration);
    *record.mutable_schedule() = schedule.ToProto();
    measure::Measurement& measurement = *record.mutable_measurement();
    measurement.set_outcome(measure::Measurement::OK);
    measurement.mutable_verification()->set_verified(true);
    measurement.mutable_verification()->set_reference("float64 loops");
    measure::LatencySummaryProto& latency = *measurement.mutable_latency();
    latency.set_n(10);
    latency.set_mean_ns(ns);
    latency.set_median_ns(ns);
    latency.set_min_ns(ns);
    measure::Method& method = *measurement.mutable_method();
    method.set_timer(measure::Method::THREAD_CPU_TIME);
    method.set_cache(measure::Method::WARM);
    method.set_repeats(10);
    method.set_degree_of_parallelism(1);
    method.set_threads(threads);
    method.set_turns("compared");
    for (int round = 0; round < 9; ++round) measurement.add_rounds_ns(ns);
    return record;
  }
  void Keep(const measure::Record& record) {
    TW_ASSERT_OK(store_->Append(record));
  }

  const sketch::Workload workload_;
  const DeviceSpec spec_;
  const sketch::Generator generator_;
  const std::unique_ptr<measure::Store> store_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_RECORDS_RECORD_TESTING_H_

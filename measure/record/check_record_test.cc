#include "measure/record/check_record.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/record/task_id.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

TEST(CheckRecordTest, GoodOnes) {
  TW_EXPECT_OK(CheckRecord(TestRecord("w", 1000)));
  TW_EXPECT_OK(CheckRecord(TestRecord("w", 0)));  // a coarse clock
  Record leased = TestRecord("w", 1000);
  leased.set_task_id(TaskIdOf(leased));
  TW_EXPECT_OK(CheckRecord(leased));
  leased.set_lease("d-1");
  TW_EXPECT_OK(CheckRecord(leased));
  for (const Measurement::Outcome outcome :
       {Measurement::BUILD_ERROR, Measurement::RUN_ERROR, Measurement::TIMEOUT,
        Measurement::WRONG_ANSWER, Measurement::OUT_OF_MEMORY}) {
    TW_EXPECT_OK(CheckRecord(FailedTestRecord("w", outcome))) << outcome;
  }
}

TEST(CheckRecordTest, EveryRuleRefusesWhatBreaksIt) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Case {
    std::string field;
    std::function<void(Record&)> spoil;
  };
  const std::vector<Case> cases = {
      {"workload.text", [](Record& r) { r.clear_workload(); }},
      {"workload.fingerprint",
       [](Record& r) { r.mutable_workload()->set_text("other"); }},
      {"device.structure_fingerprint",
       [](Record& r) { r.mutable_device()->set_structure_fingerprint("x"); }},
      {"task_id",
       [](Record& r) { r.set_task_id(TaskIdOf(TestRecord("v", 1000))); }},
      {"task_id", [](Record& r) { r.set_lease("d-1"); }},
      {"outcome", [](Record& r) { r.mutable_measurement()->clear_outcome(); }},
      {"outcome",
       [](Record& r) {
         r.mutable_measurement()->set_outcome(
             static_cast<Measurement::Outcome>(99));
       }},
      {"verification.unbounded_share",
       [](Record& r) {
         r.mutable_measurement()->mutable_verification()->set_unbounded_share(
             1.001);
       }},
      {"verification.unbounded_share",
       [](Record& r) {
         r.mutable_measurement()->mutable_verification()->set_unbounded_share(
             -0.001);
       }},
      {"verification.unbounded_share",
       [=](Record& r) {
         r.mutable_measurement()->mutable_verification()->set_unbounded_share(
             kNaN);
       }},
      {"latency.n",
       [](Record& r) { r.mutable_measurement()->clear_latency(); }},
      {"latency",
       [=](Record& r) {
         r.mutable_measurement()->mutable_latency()->set_median_ns(kNaN);
       }},
      {"latency",
       [=](Record& r) {
         r.mutable_measurement()->mutable_latency()->set_mean_ns(kInfinity);
       }},
      {"latency",
       [](Record& r) {
         r.mutable_measurement()->mutable_latency()->set_stddev_ns(-1);
       }},
      {"latency.min_ns",
       [](Record& r) {
         r.mutable_measurement()->mutable_latency()->set_min_ns(1e9);
       }},
      {"latency",
       [](Record& r) {
         r.mutable_measurement()->set_outcome(Measurement::TIMEOUT);
       }},
      {"method.timer",
       [](Record& r) { r.mutable_measurement()->clear_method(); }},
      {"method.repeats",
       [](Record& r) {
         r.mutable_measurement()->mutable_method()->clear_repeats();
       }},
      {"method.degree_of_parallelism",
       [](Record& r) {
         r.mutable_measurement()
             ->mutable_method()
             ->clear_degree_of_parallelism();
       }},
      {"method.threads",
       [](Record& r) {
         r.mutable_measurement()->mutable_method()->clear_threads();
       }},
      {"method.delta",
       [=](Record& r) {
         r.mutable_measurement()->mutable_method()->set_delta(kNaN);
       }},
      {"verification",
       [](Record& r) {
         r.mutable_measurement()->clear_latency();
         r.mutable_measurement()->set_outcome(Measurement::WRONG_ANSWER);
       }},
      {"verification.reference",
       [](Record& r) {
         r.mutable_measurement()->mutable_verification()->clear_reference();
       }},
  };
  for (const Case& c : cases) {
    Record record = TestRecord("w", 1000);
    c.spoil(record);
    EXPECT_THAT(CheckRecord(record),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "the record's " + c.field + " "));
  }
}

TEST(CheckRecordTest, TextsThatCouldNotBeReadBackAreRefused) {
  Record record = FailedTestRecord("w", Measurement::BUILD_ERROR);
  record.mutable_measurement()->set_message("caf\xe9");
  EXPECT_THAT(CheckRecord(record),
              StatusIs(absl::StatusCode::kInvalidArgument, "not UTF-8"));
}

}  // namespace
}  // namespace tilewright::measure

#include "compiler/record_source.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_matchers.h"
#include "compiler/schedule_source.h"
#include "compiler/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record.pb.h"
#include "measure/store.h"
#include "measure/workload_key.h"
#include "sketch/default_schedule.h"
#include "sketch/generator.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright {
namespace {

using measure::Measurement;
using measure::Record;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordSourceTest : public ::testing::Test {
 protected:
  RecordSourceTest()
      : workload_(*sketch::ParseWorkload(R"(A: f32[128, 96] = placeholder
B: f32[96, 256] = placeholder
T: f32[128, 256] = compute (m: 128, n: 256) reduce (k: 96) sum:f32 { A[m, k] * B[k, n] }
return T
)")),
        spec_(*LoadSpec("cpu_x86_64_v4")),
        generator_(sketch::Generators(workload_).front()),
        store_(*measure::Store::Open(NewPath())),
        source_(*store_, "DB") {}

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
    PreferredPolicy preferred;
    TablePolicy table(answers, preferred);
    Decider decider(table);
    return *sketch::Generate(generator_, workload_, spec_, decider);
  }
  sketch::Schedule Rules() const { return With({}); }
  // The same tasks as the rules', twice as many tiles of half the rows.
  sketch::Schedule OtherTile() const {
    const sketch::Schedule rules = Rules();
    EXPECT_THAT(rules.ToString(),
                HasSubstr("tile = vectors 4, rows 6, outer_rows 1"));
    int64_t steps = 0;
    for (const sketch::NamedDecision& decision : rules.decisions) {
      if (decision.name == "task.rows")
        EXPECT_TRUE(absl::SimpleAtoi(decision.value, &steps));
    }
    return With({{"tile", "vectors 4, rows 3, outer_rows 1"},
                 {"task.rows", absl::StrCat(2 * steps)}});
  }

  Record RecordOf(const sketch::Schedule& schedule, double ns,
                  int threads = 1) const {
    Record record;
    *record.mutable_workload() = measure::MakeWorkloadKey(workload_);
    record.mutable_device()->set_spec(spec_.name());
    record.mutable_device()->set_structure_fingerprint(
        StructureFingerprint(spec_).ToString());
    record.mutable_versions()->set_code_generation(kCodeGeneration);
    *record.mutable_schedule() = schedule.ToProto();
    Measurement& measurement = *record.mutable_measurement();
    measurement.set_outcome(Measurement::OK);
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
    return record;
  }
  void Keep(const Record& record) { TW_ASSERT_OK(store_->Append(record)); }

  std::optional<SourcedSchedule> Found() {
    absl::StatusOr<std::optional<SourcedSchedule>> found =
        source_.Find(workload_, generator_, spec_);
    EXPECT_THAT(found.status(), IsOk());
    return found.ok() ? *std::move(found) : std::nullopt;
  }

  const sketch::Workload workload_;
  const DeviceSpec spec_;
  const sketch::Generator generator_;
  const std::unique_ptr<measure::Store> store_;
  RecordSource source_;
};

TEST_F(RecordSourceTest, NothingIsKnownOfOtherWorkloads) {
  EXPECT_FALSE(Found().has_value());
  EXPECT_THAT(source_.Notes(), IsEmpty());
}

TEST_F(RecordSourceTest, AFasterScheduleOfTheSameTasksIsTaken) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 900));
  const std::optional<SourcedSchedule> found = Found();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->schedule, OtherTile());
  EXPECT_EQ(found->source, "record in DB, 11.1 % faster");
  EXPECT_FALSE(found->required);
  EXPECT_FALSE(found->decisions.empty());
}

TEST_F(RecordSourceTest, LessThanTwoPercentIsNoise) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 985));
  EXPECT_FALSE(Found().has_value());
}

TEST_F(RecordSourceTest, TimesCompareOnlyWithinOneMethod) {
  Keep(RecordOf(Rules(), 1000, /*threads=*/2));
  Keep(RecordOf(OtherTile(), 100, /*threads=*/1));
  EXPECT_FALSE(Found().has_value());
}

TEST_F(RecordSourceTest, WithoutTheRulesTimeNothingIsFaster) {
  Keep(RecordOf(OtherTile(), 100));
  EXPECT_FALSE(Found().has_value());
  EXPECT_THAT(source_.Notes(),
              ElementsAre(HasSubstr("no record of the rules' own schedule")));
}

// Fewer tasks look well on one core.
TEST_F(RecordSourceTest, OtherTasksHaveToBeFasterWithAllCores) {
  const int cores = static_cast<int>(spec_.unit().cores());
  ASSERT_GT(cores, 1);
  const sketch::Schedule other =
      With({{"tile", "vectors 1, rows 5, outer_rows 1"}});
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(other, 500));
  EXPECT_FALSE(Found().has_value());
  Keep(RecordOf(Rules(), 1000, cores));
  Keep(RecordOf(other, 1100, cores));
  EXPECT_FALSE(Found().has_value());
  Keep(RecordOf(other, 800, cores));
  EXPECT_TRUE(Found().has_value());
}

TEST_F(RecordSourceTest, RecordsOfOtherCodeArePassedOver) {
  Keep(RecordOf(Rules(), 1000));
  Record old = RecordOf(OtherTile(), 100);
  old.mutable_versions()->set_code_generation(kCodeGeneration - 1);
  Keep(old);
  Record wrong = RecordOf(OtherTile(), 100);
  wrong.mutable_measurement()->mutable_verification()->set_verified(false);
  Keep(wrong);
  EXPECT_FALSE(Found().has_value());
  EXPECT_THAT(source_.Notes(),
              ElementsAre(HasSubstr("1 records of another version's code")));
}

// The factors stand where older versions had decisions.
TEST_F(RecordSourceTest, ATraceThatNoLongerReplaysIsPassedOver) {
  Keep(RecordOf(Rules(), 1000));
  Record broken = RecordOf(OtherTile(), 100);
  for (sketch::InstructionProto& instruction :
       *broken.mutable_schedule()->mutable_instructions()) {
    if (instruction.primitive() == "split") instruction.clear_factors();
  }
  Keep(broken);
  EXPECT_FALSE(Found().has_value());
  EXPECT_THAT(source_.Notes(), ElementsAre(HasSubstr("no longer replays")));
}

}  // namespace
}  // namespace tilewright

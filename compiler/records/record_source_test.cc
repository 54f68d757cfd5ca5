#include "compiler/records/record_source.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "compiler/kernels/schedule_source.h"
#include "compiler/kernels/version.h"
#include "compiler/records/record_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright {
namespace {

using measure::Record;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RecordSourceTest : public RecordsTest {
 protected:
  RecordSourceTest() : source_(*store_, "DB") {}

  std::optional<SourcedSchedule> Found() {
    absl::StatusOr<std::optional<SourcedSchedule>> found =
        source_.Find(workload_, generator_, spec_);
    EXPECT_THAT(found.status(), IsOk());
    return found.ok() ? *std::move(found) : std::nullopt;
  }

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
  EXPECT_EQ(found->source, "record, 11.1 % faster");
  // Wherever the store lies: same records, same model.
  RecordSource elsewhere(*store_, "another");
  TW_ASSERT_OK_AND_ASSIGN(const std::optional<SourcedSchedule> same,
                          elsewhere.Find(workload_, generator_, spec_));
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->source, found->source);
  EXPECT_FALSE(found->required);
  EXPECT_FALSE(found->decisions.empty());
}

TEST_F(RecordSourceTest, LessThanOnePercentIsNoGain) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 995));
  EXPECT_FALSE(Found().has_value());
}

// As of a search that did not come to its comparisons.
TEST_F(RecordSourceTest, TimesThatWereNotComparedTellNothing) {
  for (const auto& [schedule, ns] :
       {std::pair(Rules(), 1000.0), std::pair(OtherTile(), 500.0)}) {
    Record record = RecordOf(schedule, ns);
    record.mutable_measurement()->clear_rounds_ns();
    record.mutable_measurement()->mutable_method()->clear_turns();
    Keep(record);
  }
  EXPECT_FALSE(Found().has_value());
}

// In three of nine rounds it is slower.
TEST_F(RecordSourceTest, AGainWithinTheNoiseIsNone) {
  Keep(RecordOf(Rules(), 1000));
  Record noisy = RecordOf(OtherTile(), 900);
  for (const int round : {1, 4, 8})
    noisy.mutable_measurement()->set_rounds_ns(round, 1020);
  Keep(noisy);
  EXPECT_FALSE(Found().has_value());
  noisy.mutable_measurement()->set_rounds_ns(4, 900);
  noisy.mutable_measurement()->set_rounds_ns(8, 900);
  Keep(noisy);  // the latest comparison counts
  EXPECT_TRUE(Found().has_value());
}

// A store that fetched its records from another has them in another order.
TEST_F(RecordSourceTest, TheLatestIsWhatWasMeasuredLast) {
  Record rules = RecordOf(Rules(), 1000), slow = RecordOf(OtherTile(), 1100),
         fast = RecordOf(OtherTile(), 900);
  slow.set_unix_ns(10);
  rules.set_unix_ns(20);
  fast.set_unix_ns(30);
  for (const Record& record : {fast, rules, slow}) Keep(record);
  EXPECT_TRUE(Found().has_value());
}

TEST_F(RecordSourceTest, WhatMakesAModelSlowerIsNotTaken) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 900));
  ASSERT_TRUE(Found().has_value());
  const auto in_model = [&](const sketch::Schedule& schedule, double ns) {
    Record record = RecordOf(schedule, ns);
    record.mutable_measurement()->mutable_method()->set_model("m");
    return record;
  };
  Keep(in_model(Rules(), 20000));
  Keep(in_model(OtherTile(), 20100));
  EXPECT_FALSE(Found().has_value());
  Keep(in_model(OtherTile(), 20000));
  EXPECT_TRUE(Found().has_value());
}

TEST_F(RecordSourceTest, SlowerWithOtherThreadsIsNotBetter) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 900));
  Keep(RecordOf(Rules(), 600, /*threads=*/2));
  Keep(RecordOf(OtherTile(), 640, /*threads=*/2));
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
  EXPECT_THAT(
      source_.Notes(),
      ElementsAre(HasSubstr("no schedule was compared with the rules'")));
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

class ConvolutionRecordsTest : public RecordsTest {
 protected:
  ConvolutionRecordsTest() : RecordsTest(Convolution()) {}
  static sketch::Workload Convolution() {
    return *sketch::ParseWorkload(
        "i0: f32[1, 64, 58, 58] = placeholder\n"
        "c0: f32[64, 64, 3, 3] = placeholder\n"
        "t0: f32[1, 64, 56, 56] = compute (n: 1, o: 64, h: 56, w: 56) "
        "reduce (c: 64, i: 3, j: 3) sum:f32 "
        "{ i0[n, c, h + i, w + j] * c0[o, c, i, j] } hint winograd2\n"
        "return t0\n"
        "#constant c0\n");
  }
};

// Records of both forms are of one workload.
TEST_F(ConvolutionRecordsTest, TheDirectFormIsTakenWhereItIsFaster) {
  ASSERT_EQ(generator_.name, "winograd");
  const sketch::Schedule direct = With({{"form", "direct"}});
  EXPECT_THAT(Rules().ToString(), HasSubstr("winograd %0 by [2]"));
  EXPECT_THAT(direct.ToString(), Not(HasSubstr("winograd %0")));
  const int cores = static_cast<int>(spec_.unit().cores());
  RecordSource source(*store_, "DB");
  Keep(RecordOf(Rules(), 1000, cores));
  Keep(RecordOf(direct, 995, cores));
  TW_ASSERT_OK_AND_ASSIGN(const std::optional<SourcedSchedule> close,
                          source.Find(workload_, generator_, spec_));
  EXPECT_FALSE(close.has_value());
  Keep(RecordOf(direct, 900, cores));
  TW_ASSERT_OK_AND_ASSIGN(const std::optional<SourcedSchedule> found,
                          source.Find(workload_, generator_, spec_));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->schedule, direct);
  EXPECT_EQ(found->decisions.front().name, "form");
}

}  // namespace
}  // namespace tilewright

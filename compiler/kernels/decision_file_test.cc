#include "compiler/kernels/decision_file.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "compiler/kernels/schedule_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

sketch::Workload Gemm() {
  return *sketch::ParseWorkload(R"(A: f32[128, 96] = placeholder
B: f32[96, 256] = placeholder
T: f32[128, 256] = compute (m: 128, n: 256) reduce (k: 96) sum:f32 { A[m, k] * B[k, n] }
return T
)");
}

std::string Key() { return Fingerprint::Of(Gemm().Text()).ToString(); }

absl::StatusOr<std::optional<SourcedSchedule>> FindIn(DecisionFile& file) {
  const sketch::Workload workload = Gemm();
  return file.Find(workload, sketch::Generators(workload).front(),
                   *LoadSpec("cpu_x86_64_v4"));
}

DecisionFile Parsed(const std::string& section) {
  return *DecisionFile::Parse("my.txt",
                              absl::StrCat("[", Key(), "]\n", section));
}

TEST(DecisionFileTest, WhatASectionLeavesOutTheRulesDecide) {
  DecisionFile file =
      Parsed("tile = vectors 2, rows 8, outer_rows 1  # 16 accumulators\n");
  TW_ASSERT_OK_AND_ASSIGN(const auto found, FindIn(file));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->source, "my.txt");
  EXPECT_TRUE(found->required);
  const sketch::Schedule& schedule = found->schedule;
  EXPECT_EQ(schedule.generator, "contraction");
  EXPECT_EQ(sketch::AnswersOf(schedule).at("tile"),
            "vectors 2, rows 8, outer_rows 1");
  EXPECT_GT(schedule.decisions.size(), 1u);
  EXPECT_THAT(file.Notes(), IsEmpty());
}

// The decisions of a preferred run, given back, give the preferred schedule.
TEST(DecisionFileTest, APrintedTableReadsBack) {
  const sketch::Workload workload = Gemm();
  TW_ASSERT_OK_AND_ASSIGN(
      const sketch::Schedule rules,
      sketch::DefaultSchedule(workload, *LoadSpec("cpu_x86_64_v4")));
  std::string section;
  for (const sketch::NamedDecision& decision : rules.decisions)
    absl::StrAppend(&section, decision.name, " = ", decision.value, "\n");
  DecisionFile file = Parsed(section);
  TW_ASSERT_OK_AND_ASSIGN(const auto found, FindIn(file));
  EXPECT_EQ(found->schedule, rules);
}

constexpr char kModel[] = "00112233445566778899aabbccddeeff";

absl::StatusOr<std::optional<SourcedPlan>> FindPlanIn(
    const std::string& section, const std::string& model = kModel) {
  TW_ASSIGN_OR_RETURN(
      DecisionFile file,
      DecisionFile::Parse("my.txt", absl::StrCat("[", kModel, "]\n", section)));
  return file.FindPlan(model, {}, *LoadSpec("cpu_x86_64_v3"));
}

TEST(DecisionFileTest, AModelsSectionDecidesWhatStandsAboveGroups) {
  TW_ASSERT_OK_AND_ASSIGN(const auto wide,
                          FindPlanIn("channel.block = 16  # of 8 and 16\n"));
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(wide->options.channel_block, 16);
  EXPECT_EQ(wide->source, "my.txt");
  TW_ASSERT_OK_AND_ASSIGN(const auto rules, FindPlanIn(""));
  EXPECT_EQ(rules->options.channel_block, 8);
  TW_ASSERT_OK_AND_ASSIGN(
      const auto other, FindPlanIn("channel.block = 16", std::string(32, '1')));
  EXPECT_FALSE(other.has_value());
}

TEST(DecisionFileTest, WhatCannotBeDecidedAboveGroupsIsSaid) {
  EXPECT_THAT(FindPlanIn("channel.block = 12"),
              StatusIs(absl::StatusCode::kInvalidArgument, "channel.block"));
  EXPECT_THAT(FindPlanIn("tile = vectors 2, rows 8, outer_rows 1"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'tile' is no decision about a model"));
}

TEST(DecisionFileTest, OtherWorkloadsAreLeftToTheRules) {
  TW_ASSERT_OK_AND_ASSIGN(
      DecisionFile file,
      DecisionFile::Parse("my.txt", absl::StrCat("[", std::string(32, '0'),
                                                 "]\ntask.rows = 1\n")));
  TW_ASSERT_OK_AND_ASSIGN(const auto found, FindIn(file));
  EXPECT_FALSE(found.has_value());
  EXPECT_THAT(
      file.Notes(),
      ElementsAre(HasSubstr("is neither this model nor a workload of it")));
}

TEST(DecisionFileTest, WhatCannotBeIsOneClearLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"tiel = vectors 2, rows 8, outer_rows 1\n",
       "'tiel' is no decision of a contraction; those are"},
      {"tile = vectors 20, rows 30, outer_rows 1\n", "tile = vectors 20"},
      {"tile = wide\n", "tile = wide"},
      {"task.rows = 100000\n", "task.rows = 100000"},
  };
  for (const auto& [section, message] : wrong) {
    DecisionFile file = Parsed(section);
    const absl::Status status = FindIn(file).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, message));
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

TEST(DecisionFileTest, LinesThatAreNoneAreNamed) {
  const std::string section = absl::StrCat("[", Key(), "]\n");
  const std::pair<std::string, const char*> wrong[] = {
      {"tile = 1\n", "my.txt:1: a decision before the first"},
      {"\n[k3]\n", "my.txt:2: expected [FINGERPRINT]"},
      {section + "tile\n", "my.txt:2: expected NAME = VALUE"},
      {section + "a = 1\na = 2\n", "my.txt:3: 'a' has a value already"},
      {section + section, "my.txt:2: this fingerprint has a section already"},
  };
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(DecisionFile::Parse("my.txt", text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

}  // namespace
}  // namespace tilewright

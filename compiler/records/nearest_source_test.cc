#include "compiler/records/nearest_source.h"

#include <optional>

#include "base/status_matchers.h"
#include "compiler/records/record_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/rules/default_schedule.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StructureTest, IsTheTextWithoutItsIntegers) {
  const Structure structure = StructureOf(
      "t0: f32[8, 48] = compute (d0: 8, d1: 48) { max(i0[d0, d1 * 2], 0.5) }");
  EXPECT_EQ(structure.text,
            "t0: f32[#, #] = compute (d0: #, d1: #) "
            "{ max(i0[d0, d1 * #], 0.5) }");
  EXPECT_THAT(structure.integers, ElementsAre(8, 48, 8, 48, 2));
}

class NearestSourceTest : public RecordsTest {
 protected:
  NearestSourceTest() : source_(*store_) {}

  std::optional<SourcedSchedule> Found(const sketch::Workload& workload) {
    absl::StatusOr<std::optional<SourcedSchedule>> found =
        source_.Find(workload, sketch::Generators(workload).front(), spec_);
    EXPECT_THAT(found.status(), IsOk());
    return found.ok() ? *std::move(found) : std::nullopt;
  }

  NearestSource source_;
};

TEST_F(NearestSourceTest, TheNearestShapeLendsItsTable) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 900));
  const std::optional<SourcedSchedule> found = Found(Gemm(256, 64, 256));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(sketch::AnswersOf(found->schedule).at("tile"),
            "vectors 4, rows 3, outer_rows 1");
  EXPECT_THAT(found->source, HasSubstr("nearest record ["));
  EXPECT_FALSE(found->required);
}

// Two vectors of columns are all there are.
TEST_F(NearestSourceTest, DecisionsAreRoundedToTheirSpaceHere) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 900));
  const std::optional<SourcedSchedule> found = Found(Gemm(256, 64, 32));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(sketch::AnswersOf(found->schedule).at("tile"),
            "vectors 2, rows 3, outer_rows 1");
}

TEST_F(NearestSourceTest, WhatIsNotFasterThanTheRulesIsNotLent) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 1100));
  EXPECT_FALSE(Found(Gemm(256, 64, 256)).has_value());
}

TEST_F(NearestSourceTest, AnotherStructureIsNoNeighbour) {
  Keep(RecordOf(Rules(), 1000));
  Keep(RecordOf(OtherTile(), 900));
  EXPECT_FALSE(Found(*sketch::ParseWorkload(R"(A: f32[128, 96] = placeholder
B: f32[256, 96] = placeholder
T: f32[128, 256] = compute (m: 128, n: 256) reduce (k: 96) sum:f32 { A[m, k] * B[n, k] }
return T
)"))
                   .has_value());
}

}  // namespace
}  // namespace tilewright

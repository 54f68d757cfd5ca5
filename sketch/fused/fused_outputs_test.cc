#include "sketch/testing/fused_outputs.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/testing/checked_stages.h"
#include "sketch/testing/fused_windows.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Checked(FusedWorkload fused, std::vector<int64_t> tile,
                    const std::string& spec = "cpu_x86_64_v4") {
  fused.plan.tile = std::move(tile);
  return CheckedStages(fused, *LoadSpec(spec));
}

absl::Status Refused(FusedWorkload fused, std::vector<int64_t> tile) {
  fused.plan.tile = std::move(tile);
  return FusedSchedule(fused.workload, *LoadSpec("cpu_x86_64_v4"), fused.plan)
      .status();
}

TEST(FusedOutputsTest, WhatOthersReadGoesToMemory) {
  const FusedWorkload fused = AddNorm(20, 33, 24, 0);
  EXPECT_THAT(Checked(fused, {8, 24}), HasSubstr("t2: f32 scratch (8, 24)"));
  const std::string text = Checked(GiveOut(fused, {0}), {8, 24});
  EXPECT_THAT(text, HasSubstr("t2: f32 global (20, 24)"));
  EXPECT_THAT(text, Not(HasSubstr("t2: f32 scratch")));
  Checked(GiveOut(AddNorm(9, 0, 17, 0), {0}), {4, 17}, "cpu_x86_64_v2");
}

TEST(FusedOutputsTest, SeveralStagesGiveOutTheirResults) {
  Checked(GiveOut(AddNorm(20, 16, 24, 40), {0, 1}), {8, 40});
  Checked(GiveOut(AddNorm(20, 16, 24, 40), {1}), {7, 40});
  Checked(GiveOut(Mlp(20, {33, 70, 5, 24}), {0, 1}), {7, 24});
  Checked(GiveOut(Attention(2, 10, 40, 16), {0, 1}), {1, 4, 16});
  Checked(GiveOut(Pointwise(5, 6, {16, 32, 24}), {0}), {1, 24, 2, 6});
  // Sums of a thousand terms are added up block by block.
  Checked(GiveOut(Mlp(5, {1000, 17, 1000, 9}), {0, 1}), {2, 9});
}

TEST(FusedOutputsTest, OutputsMayHaveZerosAroundThem) {
  Checked(GiveOut(AddNorm(20, 16, 24, 40), {0, 1}, true), {8, 40});
  Checked(GiveOut(Pointwise(5, 6, {16, 32, 24}), {0}, true), {1, 24, 2, 6});
}

// A softmax that others read is computed whole: nothing rescales it later.
TEST(FusedOutputsTest, RowsGivenOutDoNotFollowBlocks) {
  FusedWorkload fused = Attention(2, 10, 40, 16);
  fused.plan.stages.back().reduce_step = 8;
  EXPECT_THAT(Checked(fused, {1, 4, 16}), HasSubstr("rescaled"));
  EXPECT_THAT(Checked(GiveOut(fused, {1}), {1, 4, 16}),
              Not(HasSubstr("rescaled")));
}

// Every task would write all of t2.
TEST(FusedOutputsTest, OverlappingTilesAreRefused) {
  const absl::Status status =
      Refused(GiveOut(AddNorm(16, 16, 24, 32), {0}), {8, 16});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("would not be computed exactly once"));
  // A window needs a row of its neighbours'.
  EXPECT_THAT(
      std::string(Refused(GiveOut(InvertedResidual(16, 32, 16, 8, 1), {0}),
                          {1, 16, 2, 8})
                      .message()),
      HasSubstr("would not be computed exactly once"));
}

// With a stride of two the last row is needed by nobody.
TEST(FusedOutputsTest, TilesThatLeaveGapsAreRefused) {
  const WindowStep pointwise = {WindowStep::Kind::kConv, 16};
  WindowStep every_other = pointwise;
  every_other.stride = 2;
  EXPECT_THAT(std::string(Refused(GiveOut(WindowChain(16, 8, 8,
                                                      {pointwise, every_other},
                                                      WindowLayout::kBlocked),
                                          {0}),
                                  {1, 16, 2, 4})
                              .message()),
              HasSubstr("would not be computed exactly once"));
}

TEST(FusedOutputsTest, AnOutputInsideAStageIsRefused) {
  FusedWorkload fused = AddNorm(16, 16, 24, 0);
  fused.workload.graph.SetOutputs(
      {fused.workload.stages[0][0], fused.workload.stages[1].back()});
  const absl::Status status = Refused(fused, {8, 24});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no stage's result"));
}

TEST(FusedOutputsTest, DrawnGroupsAndTiles) {
  int checked = 0;
  constexpr int kCases = 40;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const FusedWorkload fused = DrawGivingOut(seed);
    const DeviceSpec spec =
        *LoadSpec(seed % 3 == 0 ? "cpu_x86_64_v2" : "cpu_x86_64_v4");
    const absl::Status status =
        FusedSchedule(fused.workload, spec, fused.plan).status();
    if (status.code() == absl::StatusCode::kInvalidArgument) continue;
    CheckedStages(fused, spec);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ++checked;
  }
  EXPECT_GE(checked, kCases / 3);
}

}  // namespace
}  // namespace tilewright::sketch

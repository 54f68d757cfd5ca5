#include "sketch/fused/fused_schedule.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/load_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/testing/checked_stages.h"
#include "sketch/testing/fused_workloads.h"

namespace tilewright::sketch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Checked(FusedWorkload fused, std::vector<int64_t> tile,
                    const std::string& spec = "cpu_x86_64_v4") {
  fused.plan.tile = std::move(tile);
  return CheckedStages(fused, *LoadSpec(spec));
}

TEST(FusedScheduleTest, HiddenLayersStayInScratch) {
  const std::string text = Checked(Mlp(32, {32, 32, 32, 32}), {16, 32});
  EXPECT_THAT(text, HasSubstr("t2: f32 scratch (16, 32)"));
  Checked(Mlp(20, {33, 70, 5, 24}), {7, 24});
  Checked(Mlp(20, {33, 40, 24}), {16, 16});
  Checked(Mlp(1, {16, 24, 16}), {1, 16});
}

TEST(FusedScheduleTest, AResidualReadsTheGroupsInput) {
  Checked(TokenMlp(20, 24, 48), {8, 24});
  Checked(TokenMlp(9, 17, 50), {4, 17}, "cpu_x86_64_v2");
}

TEST(FusedScheduleTest, LongSumsOfAStageAreAddedUpBlockByBlock) {
  Checked(Mlp(5, {1000, 17, 1000, 9}), {2, 9});
}

TEST(FusedScheduleTest, RowsOfScoresAreAStage) {
  Checked(Attention(2, 10, 40, 16), {1, 4, 16});
  Checked(Attention(1, 9, 70, 17), {1, 9, 17});
  Checked(Attention(3, 5, 33, 16, true), {2, 5, 16});
}

// Neighbours of both products are elements of their output, not terms.
TEST(FusedScheduleTest, ASingleRowHasLanesAlongTheOutput) {
  const std::string text = Checked(Attention(2, 10, 64, 32), {1, 1, 32});
  EXPECT_THAT(text, HasSubstr("t7.acc: f32 registers (1, 1, 32)"));
  EXPECT_THAT(text, Not(HasSubstr("t7.acc.rf: f32 registers (1, 1, 1, ")));
}

TEST(FusedScheduleTest, BlockedChannelsStayBlocked) {
  Checked(Pointwise(5, 6, {16, 32, 24}), {1, 24, 2, 6});
  Checked(Pointwise(4, 7, {32, 48, 32}), {1, 16, 2, 3});
}

TEST(FusedScheduleTest, HiddenChannelsInBlocks) {
  const auto in_blocks = [](FusedWorkload fused, size_t stage, int64_t step,
                            std::vector<int64_t> tile) {
    fused.plan.stages[stage].reduce_step = step;
    return Checked(std::move(fused), std::move(tile));
  };
  EXPECT_THAT(in_blocks(Mlp(32, {32, 64, 32}), 1, 16, {16, 32}),
              HasSubstr("t2: f32 scratch (16, 16)"));
  in_blocks(Mlp(20, {5, 70, 33}), 1, 24, {7, 16});
  in_blocks(Mlp(9, {16, 40, 24}), 1, 7, {4, 24});
  // Rows of a norm need all channels, so they stay outside.
  EXPECT_THAT(in_blocks(TokenMlp(20, 24, 48), 2, 16, {8, 24}),
              AllOf(HasSubstr("t2: f32 scratch (8, 24)"),
                    HasSubstr("t5: f32 scratch (8, 16)")));
  in_blocks(TokenMlp(20, 24, 48), 1, 8, {8, 24});
  // Softmax follows the blocks of the product.
  EXPECT_THAT(in_blocks(Attention(2, 10, 40, 16), 2, 16, {1, 4, 16}),
              HasSubstr("t1: f32 scratch (1, 4, 16)"));
  EXPECT_THAT(in_blocks(Pointwise(5, 6, {16, 48, 24}), 1, 20, {1, 24, 2, 6}),
              HasSubstr("t1: f32 scratch (1, 32, 2, 6)"));
}

TEST(FusedScheduleTest, SoftmaxFollowsBlocksOfKeys) {
  FusedWorkload fused = Attention(2, 9, 40, 16, true);
  fused.plan.stages[3].reduce_step = 16;
  const std::string text = Checked(fused, {2, 4, 16});
  EXPECT_THAT(text, HasSubstr("rescaled"));
  EXPECT_THAT(text, HasSubstr("t2: f32 scratch (2, 4, 16)"));  // scores
  fused.plan.tile = {2, 4, 16};
  const auto schedule =
      FusedSchedule(fused.workload, *LoadSpec("cpu_x86_64_v4"), fused.plan);
  ASSERT_TRUE(schedule.ok());
  EXPECT_THAT(schedule->ToString(), HasSubstr("rolling_update"));
  ASSERT_TRUE(schedule->tile_plan);
  const std::vector<StageDecision>& decided = schedule->tile_plan->stages;
  ASSERT_EQ(decided.size(), 4u);
  EXPECT_EQ(ToString(decided[1]), "in the blocks of stage 3");
  EXPECT_EQ(ToString(decided[2]), "follows the blocks of stage 3");
  EXPECT_EQ(ToString(decided[3]), "by 16 steps");
  EXPECT_EQ(decided[1].family, ComputeFamily::kContraction);
  EXPECT_EQ(decided[2].family, ComputeFamily::kRowReduction);
  EXPECT_EQ(decided[1].scratch_bytes, 2 * 4 * 16 * 4);
  const auto same = Schedule::FromProto(schedule->ToProto());
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(*same, *schedule);
}

TEST(FusedScheduleTest, RowsWithoutRescalingStayWhole) {
  // The steps of a norm's variance hang on a mean, not on a greatest value.
  FusedWorkload fused = TokenMlp(20, 24, 48);
  fused.plan.stages[1].reduce_step = 8;
  EXPECT_THAT(Checked(std::move(fused), {8, 24}), Not(HasSubstr("rescaled")));
}

TEST(FusedScheduleTest, BlocksInBlocks) {
  FusedWorkload fused = Mlp(12, {16, 48, 40, 24});
  fused.plan.stages[1].reduce_step = 16;
  fused.plan.stages[2].reduce_step = 20;
  Checked(std::move(fused), {5, 24});
}

TEST(FusedScheduleTest, OnlyProductsOfStagesTakeBlocks) {
  FusedWorkload fused = Mlp(8, {8, 8, 8});
  fused.plan.stages[0].reduce_step = 4;
  EXPECT_EQ(
      FusedSchedule(fused.workload, *LoadSpec("cpu_x86_64_v4"), fused.plan)
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(FusedScheduleTest, DrawnGroupsAndTiles) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    FusedWorkload fused = DrawFused(seed);
    const std::vector<int64_t> tile = fused.plan.tile;
    Checked(std::move(fused), tile,
            seed % 3 == 0 ? "cpu_x86_64_v2" : "cpu_x86_64_v4");
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      break;
    }
  }
}

TEST(FusedScheduleTest, PlansOfOtherOutputsAreRefused) {
  FusedWorkload fused = Mlp(8, {8, 8, 8});
  fused.workload.stages.pop_back();
  fused.plan.stages.pop_back();
  EXPECT_EQ(
      FusedSchedule(fused.workload, *LoadSpec("cpu_x86_64_v4"), fused.plan)
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tilewright::sketch

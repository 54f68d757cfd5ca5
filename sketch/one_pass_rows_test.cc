#include "sketch/one_pass_rows.h"

#include <cstdint>
#include <optional>
#include <string>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/block_tree.h"
#include "sketch/block_tree_verifier.h"
#include "sketch/norm_workloads.h"
#include "sketch/replay.h"
#include "sketch/row_workloads.h"
#include "sketch/test_workloads.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;

// The tree's text, once it was found to compute the right thing.
std::string Checked(const Workload& workload, int64_t block_elements) {
  for (const char* spec : {"cpu_x86_64_v2", "cpu_x86_64_v4"}) {
    const std::optional<Schedule> schedule =
        OnePassRowSchedule(workload, *LoadSpec(spec), block_elements);
    EXPECT_TRUE(schedule.has_value()) << workload.Text();
    if (!schedule) return "";
    EXPECT_THAT(schedule->ToString(), HasSubstr("rolling_update"));
    const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
    EXPECT_THAT(tree.status(), IsOk()) << schedule->ToString();
    if (!tree.ok()) return "";
    EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << tree->ToString();
    EXPECT_THAT(CheckTree(*tree, workload, 5), IsOk()) << tree->ToString();
    if (std::string(spec) == "cpu_x86_64_v4") return tree->ToString();
  }
  return "";
}

TEST(OnePassRowsTest, TheVarianceFollowsTheMean) {
  EXPECT_THAT(Checked(LayerNorm(3, 96), 32), HasSubstr("repaired"));
  Checked(LayerNorm(1, 100), 40);  // the last block is shorter
  Checked(LayerNorm(2, 3), 1);
  Checked(LayerNorm(2, 131), 130);
  Checked(LayerNorm(2, 17), 16);
}

TEST(OnePassRowsTest, PlanesAreTakenInRows) {
  EXPECT_THAT(Checked(InstanceNorm(3, 8, 16), 32), HasSubstr("repaired"));
  Checked(InstanceNorm(1, 7, 5), 10);
  Checked(InstanceNorm(2, 5, 49), 49);
  Checked(InstanceNorm(2, 6, 20, /*halves=*/true), 40);
}

TEST(OnePassRowsTest, TheSumOfExponentialsFollowsTheMaximum) {
  EXPECT_THAT(Checked(MakeRows(RowFamily::kLogSoftmax, 3, 96), 32),
              HasSubstr("repaired"));
  Checked(MakeRows(RowFamily::kLogSoftmax, 2, 50), 20);
}

TEST(OnePassRowsTest, WhatHasNoRepairOrNoBlocksIsRefused) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  EXPECT_FALSE(OnePassRowSchedule(LayerNorm(3, 32), spec, 32));
  EXPECT_FALSE(OnePassRowSchedule(InstanceNorm(3, 8, 16), spec, 15));
  // This one's A is no mean: the sum is divided by 7.
  EXPECT_FALSE(
      OnePassRowSchedule(MakeRows(RowFamily::kLayerNorm, 3, 96), spec, 32));
  for (const RowFamily family :
       {RowFamily::kSoftmax, RowFamily::kChannelNorm, RowFamily::kInstanceNorm,
        RowFamily::kReduceAll, RowFamily::kReduceAlone, RowFamily::kArgMax,
        RowFamily::kHalf})
    EXPECT_FALSE(OnePassRowSchedule(MakeRows(family, 8, 96), spec, 32));
  // Its mean is of X, its squares are of Z.
  EXPECT_FALSE(OnePassRowSchedule(*ParseWorkload(R"(
      X: f32[4, 64] = placeholder
      Z: f32[4, 64] = placeholder
      S: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { X[r, k] }
      Q: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { (Z[r, k] - S[r] / 64.0) * (Z[r, k] - S[r] / 64.0) }
      Y: f32[4, 64] = compute (r: 4, k: 64) { X[r, k] * Q[r] }
      return Y)"),
                                  spec, 16));
  // Squares of other elements than the mean is of.
  EXPECT_FALSE(OnePassRowSchedule(*ParseWorkload(R"(
      X: f32[4, 65] = placeholder
      S: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { X[r, k] }
      Q: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { (X[r, k + 1] - S[r] / 64.0) * (X[r, k + 1] - S[r] / 64.0) }
      Y: f32[4, 64] = compute (r: 4, k: 64) { X[r, k] * Q[r] }
      return Y)"),
                                  spec, 16));
}

}  // namespace
}  // namespace tilewright::sketch

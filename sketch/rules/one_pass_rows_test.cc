#include "sketch/rules/one_pass_rows.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/norm_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_verifier.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The schedule in one pass; `asked`: other answers.
absl::StatusOr<Schedule> OnePass(const Workload& workload,
                                 const DeviceSpec& spec, int64_t block_steps,
                                 Answers asked = {}) {
  asked["passes"] = "one";
  asked["passes.block"] = absl::StrCat(block_steps);
  PreferredPolicy rest;
  TablePolicy policy(asked, rest);
  Decider decider(policy);
  absl::StatusOr<Schedule> schedule =
      Generate(Generators(workload).front(), workload, spec, decider);
  EXPECT_THAT(policy.Rounded(), IsEmpty());
  EXPECT_THAT(policy.Unused(), IsEmpty());
  return schedule;
}

// Whether the number of passes is asked for.
bool MayBeOne(const Workload& workload) {
  const absl::StatusOr<Schedule> schedule =
      DefaultSchedule(workload, *LoadSpec("cpu_x86_64_v4"));
  return schedule.ok() &&
         schedule->ToString().find("passes = two") != std::string::npos;
}

// The tree's text, once it was found to compute the right thing.
std::string Checked(const Workload& workload, int64_t block_steps,
                    const Answers& asked = {}) {
  std::string text;
  for (const char* spec : {"cpu_x86_64_v2", "cpu_x86_64_v4"}) {
    const absl::StatusOr<Schedule> schedule =
        OnePass(workload, *LoadSpec(spec), block_steps, asked);
    EXPECT_THAT(schedule.status(), IsOk()) << workload.Text();
    if (!schedule.ok()) return "";
    EXPECT_THAT(schedule->ToString(), HasSubstr("rolling_update"));
    const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
    EXPECT_THAT(tree.status(), IsOk()) << schedule->ToString();
    if (!tree.ok()) return "";
    EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << tree->ToString();
    EXPECT_THAT(CheckTree(*tree, workload, 5), IsOk()) << tree->ToString();
    text = tree->ToString();
  }
  return text;
}

TEST(OnePassRowsTest, TheVarianceFollowsTheMean) {
  EXPECT_THAT(Checked(LayerNorm(3, 96), 32), HasSubstr("rescaled"));
  Checked(LayerNorm(1, 100), 40);  // the last block is shorter
  Checked(LayerNorm(2, 3), 1);
  Checked(LayerNorm(2, 131), 130);
  Checked(LayerNorm(2, 17), 16);
}

TEST(OnePassRowsTest, PlanesAreTakenInRows) {
  EXPECT_THAT(Checked(InstanceNorm(3, 8, 16), 2), HasSubstr("rescaled"));
  Checked(InstanceNorm(1, 7, 5), 2);
  Checked(InstanceNorm(2, 5, 49), 1);
  Checked(InstanceNorm(2, 6, 20, /*halves=*/true), 2);
}

TEST(OnePassRowsTest, TheSumOfExponentialsFollowsTheMaximum) {
  EXPECT_THAT(Checked(MakeRows(RowFamily::kLogSoftmax, 3, 96), 32),
              HasSubstr("rescaled"));
  Checked(MakeRows(RowFamily::kLogSoftmax, 2, 50), 20);
}

TEST(OnePassRowsTest, ExponentialsThatAreRecomputedNeedNoBufferOfARow) {
  const Workload softmax = MakeRows(RowFamily::kSoftmax, 3, 96);
  EXPECT_THAT(Checked(softmax, 40, {{"intermediate.2", "recomputed"}}),
              HasSubstr("rescaled"));
}

TEST(OnePassRowsTest, TwoPassesArePreferredWhereThereIsARescaling) {
  EXPECT_TRUE(MayBeOne(LayerNorm(3, 96)));
  EXPECT_TRUE(MayBeOne(InstanceNorm(3, 8, 16)));
  EXPECT_TRUE(MayBeOne(MakeRows(RowFamily::kLogSoftmax, 3, 96)));
}

TEST(OnePassRowsTest, WhatHasNoRescalingTakesTwo) {
  // This one's A is no mean: the sum is divided by 7.
  EXPECT_FALSE(MayBeOne(MakeRows(RowFamily::kLayerNorm, 3, 96)));
  for (const RowFamily family :
       {RowFamily::kSoftmax, RowFamily::kChannelNorm, RowFamily::kInstanceNorm,
        RowFamily::kReduceAll, RowFamily::kReduceAlone, RowFamily::kArgMax,
        RowFamily::kHalf})
    EXPECT_FALSE(MayBeOne(MakeRows(family, 8, 96)));
  // Its mean is of X, its squares are of Z.
  EXPECT_FALSE(MayBeOne(*ParseWorkload(R"(
      X: f32[4, 64] = placeholder
      Z: f32[4, 64] = placeholder
      S: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { X[r, k] }
      Q: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { (Z[r, k] - S[r] / 64.0) * (Z[r, k] - S[r] / 64.0) }
      Y: f32[4, 64] = compute (r: 4, k: 64) { X[r, k] * Q[r] }
      return Y)")));
  // Squares of other elements than the mean is of.
  EXPECT_FALSE(MayBeOne(*ParseWorkload(R"(
      X: f32[4, 65] = placeholder
      S: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { X[r, k] }
      Q: f32[4] = compute (r: 4) reduce (k: 64) sum:f32 { (X[r, k + 1] - S[r] / 64.0) * (X[r, k + 1] - S[r] / 64.0) }
      Y: f32[4, 64] = compute (r: 4, k: 64) { X[r, k] * Q[r] }
      return Y)")));
}

}  // namespace
}  // namespace tilewright::sketch

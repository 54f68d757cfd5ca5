#include "tilegraph/cost/group_cost.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/cost/kernel_features.h"
#include "tilegraph/cost/kernel_seconds.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// Two products, the first a stage of the second.
class GroupCostTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4"));
    Products(4096, 64);
  }

  void Products(int rows, int width) {
    const std::string x = std::to_string(width);
    const std::string m = std::to_string(rows);
    const auto product = [&](const std::string& name, const std::string& of,
                             const std::string& by) {
      return name + ": f32[" + m + ", " + x + "] = compute (m: " + m +
             ", n: " + x + ") reduce (k: " + x + ") sum:f32 { " + of +
             "[m, k] * " + by + "[k, n] }\n";
    };
    const std::string square = ": f32[" + x + ", " + x + "] = placeholder\n";
    TW_ASSERT_OK_AND_ASSIGN(
        graph_, ParseText("A: f32[" + m + ", " + x + "] = placeholder\nB" +
                          square + "C" + square + product("T", "A", "B") +
                          product("Y", "T", "C") + "return Y\n"));
    group_ = {};
    group_.members = {3, 4};
    group_.inputs = {0, 1, 2};
    group_.output = 4;
    group_.stages = {{{3}}, {{4}}};
  }

  DeviceSpec spec_;
  TensorGraph graph_;
  Plan plan_;
  Group group_;
};

TEST_F(GroupCostTest, TheBestFewAreDistinctAndBestFirst) {
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<GroupCost> few,
                          evaluator.BestFew(group_, 6));
  ASSERT_EQ(few.size(), 6u);
  std::set<std::vector<int64_t>> tiles;
  for (size_t i = 0; i < few.size(); ++i) {
    EXPECT_TRUE(few[i].fits);
    tiles.insert(few[i].plan.tile);
    TW_ASSERT_OK_AND_ASSIGN(const GroupCost same,
                            evaluator.Cost(group_, few[i].plan.tile));
    EXPECT_EQ(same.core_seconds, few[i].core_seconds);
    if (i > 0) {
      EXPECT_GE(few[i].core_seconds, few[i - 1].core_seconds);
    }
  }
  EXPECT_EQ(tiles.size(), few.size());
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost best, evaluator.Best(group_));
  EXPECT_EQ(best.plan.tile, few[0].plan.tile);
}

// A vector of what is between the products is 64 bytes.
TEST_F(GroupCostTest, OneTileIsReturnedIfNoneFits) {
  Products(4, 64);
  spec_.mutable_levels(PrivateLevel(spec_))->set_capacity_bytes(64);
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<GroupCost> few,
                          evaluator.BestFew(group_, 6));
  ASSERT_EQ(few.size(), 1u);
  EXPECT_FALSE(few[0].fits);
}

// Registers take tiles of four vectors by six rows.
TEST_F(GroupCostTest, TilesOfManyRowsAreMultiplesOfTheRegisterTile) {
  Products(65536, 64);
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost best, evaluator.Best(group_));
  EXPECT_EQ(best.plan.tile[0] % 6, 0) << best.plan.ToString();
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost dividing,
                          evaluator.Cost(group_, {512, 64}));
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost multiple,
                          evaluator.Cost(group_, {504, 64}));
  EXPECT_GT(dividing.work_seconds, 1.03 * multiple.work_seconds);
}

// A and Y are 16 MiB, B and C small enough to stay near.
TEST_F(GroupCostTest, WhatPassesBetweenStagesStaysNear) {
  constexpr double kMiB = 1 << 20;
  Products(65536, 64);
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost cost,
                          evaluator.Cost(group_, {64, 64}));
  ASSERT_EQ(cost.levels.size(), 3u);  // into l3, l2, l1
  for (const size_t level : {0, 1}) {
    EXPECT_EQ(cost.levels[level].read, 16 * kMiB);
    EXPECT_EQ(cost.levels[level].written, 16 * kMiB);
  }
  // Into l1 come B, C, and T in its tile, which lies in l2, too.
  EXPECT_EQ(cost.scratch_bytes, 64 * 64 * 4);
  EXPECT_GT(cost.levels[2].read, 16 * kMiB);
  EXPECT_EQ(cost.memory_bytes, 32 * kMiB);
  EXPECT_EQ(cost.shared_bytes, 0);
  EXPECT_EQ(cost.recompute, 1);
}

// 1 MiB of T stays in the caches anyway; 16 MiB do not.
TEST_F(GroupCostTest, FusionsSaveWhatCrossesTheOutermostLevel) {
  const auto saved = [&](int rows) -> double {
    Products(rows, 64);
    const GroupEvaluator evaluator(graph_, plan_, spec_);
    double apart = 0;
    for (const TensorId id : {3, 4}) {
      Group one;
      one.members = {id};
      one.inputs = graph_.Inputs(id);
      one.output = id;
      apart += evaluator.Best(one)->one_core_seconds;
    }
    return 1 - evaluator.Best(group_)->one_core_seconds / apart;
  };
  // Traffic of a cache near by is nearly hidden behind the arithmetic.
  EXPECT_LT(saved(4096), 0.06);
  EXPECT_GT(saved(65536), 0.15);
}

// Columns of a tensor in memory: a row of 64 floats of each is a run.
TEST_F(GroupCostTest, ShortRunsWaitForTheirFirstLine) {
  TW_ASSERT_OK_AND_ASSIGN(graph_, ParseText(R"(
    X: f32[4096, 4096] = placeholder
    Y: f32[4096, 4096] = compute (m: 4096, n: 4096) { X[m, n] + X[m, n] }
    return Y
  )"));
  Group group;
  group.members = {1};
  group.inputs = {0};
  group.output = 1;
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost rows,
                          evaluator.Cost(group, {16, 4096}));
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost columns,
                          evaluator.Cost(group, {1024, 64}));
  EXPECT_EQ(rows.levels[0].short_runs, 0);
  EXPECT_EQ(columns.levels[0].short_runs, 4096 * 64);
  EXPECT_GT(columns.transfer_seconds, rows.transfer_seconds);
}

// Half of the channels of every pixel, as views of what was split have them:
// gaps within a page, over which prefetching goes on.
TEST_F(GroupCostTest, GapsWithinAPageEndNoRun) {
  TW_ASSERT_OK_AND_ASSIGN(graph_, ParseText(R"(
    X: f32[262144, 128] = placeholder
    Y: f32[262144, 64] = compute (m: 262144, n: 64) { X[m, n] + X[m, n] }
    return Y
  )"));
  Group group;
  group.members = {1};
  group.inputs = {0};
  group.output = 1;
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost cost,
                          evaluator.Cost(group, {1024, 64}));
  EXPECT_EQ(cost.levels[0].short_runs, 0);
}

TEST_F(GroupCostTest, WindowsInRowsThatEndWithinALineTakeTwice) {
  const auto work_of_element = [&](int extent) {
    const std::string e = std::to_string(extent),
                      in = std::to_string(extent + 2);
    graph_ = *ParseText("X: f32[8, " + in + ", " + in +
                        "] = placeholder\nW: f32[8, 3, 3] = placeholder\n"
                        "Y: f32[8, " +
                        e + ", " + e + "] = compute (c: 8, i: " + e +
                        ", j: " + e +
                        ") reduce (k: 3, l: 3) sum:f32 { X[c, i + k, j + l] * "
                        "W[c, k, l] }\nreturn Y\n");
    Group group;
    group.members = {2};
    group.inputs = {0, 1};
    group.output = 2;
    const GroupEvaluator evaluator(graph_, plan_, spec_);
    return evaluator.Cost(group, {8, extent, extent})->work_seconds /
           (extent * extent);
  };
  EXPECT_NEAR(work_of_element(62) / work_of_element(64), 2 * 64.0 / 62, 0.01);
}

// A sum of all rows that scales each row: every tile sums anew, and reads all
// rows, which fit into no private cache, once for that and once to scale.
TEST_F(GroupCostTest, WhatAllTilesNeedIsComputedForEach) {
  TW_ASSERT_OK_AND_ASSIGN(graph_, ParseText(R"(
    X: f32[8192, 64] = placeholder
    P: f32[64] = compute (n: 64) reduce (m: 8192) sum:f32 { X[m, n] }
    Y: f32[8192, 64] = compute (m: 8192, n: 64) { X[m, n] * P[n] }
    return Y
  )"));
  Group group;
  group.members = {1, 2};
  group.inputs = {0};
  group.output = 2;
  group.stages = {{{1}}, {{2}}};
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost whole,
                          evaluator.Cost(group, {8192, 64}));
  EXPECT_EQ(whole.recompute, 1);
  EXPECT_EQ(whole.levels[1].read, 3 * (2 << 20));  // and Y before it is written
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost quarters,
                          evaluator.Cost(group, {2048, 64}));
  EXPECT_EQ(quarters.recompute, 2.5);
}

// The paper's key: 32 MiB cross memory, whatever is computed meanwhile.
// A 1x1 product whose padding hides behind it: what crosses into the innermost
// cache is that of both, and the padding's time beside it is none.
TEST_F(GroupCostTest, AProductAndThePaddingAroundItAreOneStage) {
  TW_ASSERT_OK_AND_ASSIGN(graph_, ParseText(R"(
    X: f32[256, 254] = placeholder
    W: f32[256, 256] = placeholder
    T: f32[256, 254] = compute (o: 256, x: 254) reduce (c: 256) sum:f32 {
      X[c, x] * W[o, c] }
    P: f32[256, 256] = compute (o: 256, x: 256) {
      select(x >= 1 && x < 255, T[o, x - 1], 0.0) }
    Y: f32[256, 254] = compute (o: 256, x: 254) reduce (k: 3) sum:f32 {
      P[o, x + k] }
    return Y
  )"));
  group_ = {};
  group_.members = {2, 3, 4};
  group_.inputs = {0, 1};
  group_.output = 4;
  group_.stages = {{{2}}, {{3}}, {{4}}};
  const GroupEvaluator evaluator(graph_, plan_, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost cost,
                          evaluator.Cost(group_, {256, 127}));
  group_.tile_plan = cost.plan;
  TW_ASSERT_OK_AND_ASSIGN(const KernelFeatures together,
                          evaluator.Features(group_));
  group_.tile_plan.stages[0].held = true;
  TW_ASSERT_OK_AND_ASSIGN(const KernelFeatures apart,
                          evaluator.Features(group_));
  ASSERT_EQ(together.stages.size(), 2u);
  ASSERT_EQ(apart.stages.size(), 3u);
  EXPECT_EQ(together.stages[0].computes.size(), 2u);
  EXPECT_TRUE(together.stages[0].computes[1].is_fused);
  EXPECT_FALSE(apart.stages[1].computes[0].is_fused);
  EXPECT_GT(together.stages[0].levels.back().read,
            apart.stages[0].levels.back().read);
  const KernelTimer timer(spec_);
  EXPECT_LT(timer.Of(together).total(), timer.Of(apart).total());
}

TEST_F(GroupCostTest, TrafficAloneCanBeTheCost) {
  Products(65536, 64);
  const GroupEvaluator by_time(graph_, plan_, spec_);
  const GroupEvaluator by_traffic(graph_, plan_, spec_, CostKey::kTraffic);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost cost,
                          by_traffic.Cost(group_, {64, 64}));
  const double seconds = (32 << 20) / ReadBytesPerS(spec_.levels(0));
  EXPECT_NEAR(cost.core_seconds, seconds, 0.01 * seconds);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost fast, by_time.Best(group_));
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost lean, by_traffic.Best(group_));
  EXPECT_LE(FarBytes(lean), FarBytes(fast));
}

}  // namespace
}  // namespace tilewright

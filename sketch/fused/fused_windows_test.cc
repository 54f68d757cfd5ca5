#include "sketch/testing/fused_windows.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/testing/checked_stages.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using Kind = WindowStep::Kind;

// On one core, whose tasks take several tiles.
std::string Checked(FusedWorkload fused, std::vector<int64_t> tile,
                    const std::string& name = "cpu_x86_64_v4") {
  fused.plan.tile = std::move(tile);
  DeviceSpec spec = *LoadSpec(name);
  spec.mutable_unit()->set_cores(1);
  return CheckedStages(fused, spec);
}

// A row of hidden channels is computed once and kept for three rows of the
// depthwise convolution; the padding is written with it.
TEST(FusedWindowsTest, HiddenRowsRoll) {
  const std::string text =
      Checked(InvertedResidual(8, 20, 8, 9, 1), {1, 8, 1, 9});
  EXPECT_THAT(text, HasSubstr("[d0, d1/16, d2%3, d3, d1%16]"));
  Checked(InvertedResidual(5, 17, 8, 9, 2), {1, 8, 1, 5});
  Checked(InvertedResidual(8, 20, 8, 8, 1, WindowLayout::kLast), {1, 8, 2, 8});
  Checked(InvertedResidual(8, 20, 8, 8, 1, WindowLayout::kPlain), {1, 8, 2, 8});
  Checked(InvertedResidual(4, 9, 4, 7, 1), {1, 4, 7, 7});
}

TEST(FusedWindowsTest, WhatRollsStandsBesideTheSchedule) {
  FusedWorkload fused = InvertedResidual(8, 20, 8, 9, 1);
  fused.plan.tile = {1, 8, 1, 9};
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  spec.mutable_unit()->set_cores(1);
  TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                          FusedSchedule(fused.workload, spec, fused.plan));
  ASSERT_TRUE(schedule.tile_plan);
  EXPECT_EQ(schedule.tile_plan->ToString(),
            "[1, 8, 1, 9], 3 tiles of d2 in a row");
  const std::vector<StageDecision>& decided = schedule.tile_plan->stages;
  ASSERT_EQ(decided.size(), 3u);
  EXPECT_EQ(ToString(decided[0]),
            "rolls along d2, goes straight into its padding");
  EXPECT_EQ(ToString(decided[1]), "");
  EXPECT_EQ(decided[1].family, ComputeFamily::kDepthwise);
  EXPECT_EQ(decided[2].family, ComputeFamily::kContraction);
}

TEST(FusedWindowsTest, ColumnsOfATileNeedNotBeAllOfARow) {
  Checked(InvertedResidual(8, 16, 8, 9, 1), {1, 8, 2, 4});
  Checked(InvertedResidual(8, 40, 24, 9, 2), {1, 16, 2, 3});
}

TEST(FusedWindowsTest, WindowsFollowWindows) {
  const WindowStep conv{Kind::kConv, 16, 3, 1, 1, 1};
  Checked(WindowChain(3, 7, 8, {conv, conv}, WindowLayout::kBlocked),
          {1, 16, 2, 8});
  Checked(WindowChain(3, 10, 8, {conv, conv, {Kind::kMaxPool, 0, 3, 2, 1, 0}},
                      WindowLayout::kBlocked),
          {1, 16, 1, 4});
  Checked(WindowChain(16, 12, 7,
                      {{Kind::kDepthwise, 0, 3, 1, 2, 0},
                       {Kind::kDepthwise, 0, 5, 2, 1, 3, false}},
                      WindowLayout::kLast),
          {1, 16, 1, 4});
}

TEST(FusedWindowsTest, DrawnChainsAndTiles) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    FusedWorkload fused = DrawWindowChain(seed);
    const std::vector<int64_t> tile = fused.plan.tile;
    Checked(std::move(fused), tile,
            seed % 3 == 0 ? "cpu_x86_64_v2" : "cpu_x86_64_v4");
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      break;
    }
  }
}

}  // namespace
}  // namespace tilewright::sketch

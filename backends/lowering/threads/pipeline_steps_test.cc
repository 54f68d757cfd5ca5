#include "backends/lowering/threads/pipeline_steps.h"

#include <string>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/threads/copied_steps.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::For;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::TileOp;

constexpr int kSteps = CopiedSteps::kSteps, kIn = CopiedSteps::kIn,
              kOut = CopiedSteps::kOut, kShared = CopiedSteps::kShared;

Kernel Staged(int stages, int copied = kIn) {
  For::Hints hints;
  hints.stages = stages;
  return CopiedSteps::Sums(hints, copied);
}

TEST(PipelineStepsTest, NextStepsAreLoadedBeforeTheSumsOfThisOne) {
  Kernel kernel = Staged(2);
  const std::vector<float> before = CopiedSteps::Run(kernel);
  EXPECT_EQ(PipelineSteps(kernel), 1);
  EXPECT_EQ(CopiedSteps::Run(kernel), before);
  // Zeros; the first row; the loop; the last row's copy and sums.
  ASSERT_EQ(kernel.body.size(), 5u);
  const For& steps = std::get<For>(kernel.body[2].node);
  EXPECT_EQ(steps.extent, kSteps - 1);
  ASSERT_EQ(steps.body.size(), 3u);
  const auto op = [&](int i) -> const TileOp& {
    return std::get<TileOp>(std::get<For>(steps.body[i].node).body[0].node);
  };
  const int registers = 3;
  EXPECT_EQ(kernel.buffers[registers].level, Level::kRegisters);
  EXPECT_EQ(op(0).dst[0], kShared);
  EXPECT_EQ(op(0).body[0].source(), registers);
  EXPECT_EQ(op(1).dst[0], registers);
  EXPECT_EQ(op(1).body[0].source(), kIn);
  EXPECT_EQ(op(2).dst[0], kOut);
}

TEST(PipelineStepsTest, LoopsOfOneStageStayAsTheyAre) {
  Kernel kernel = Staged(1);
  const std::string before = kernel.ToString();
  EXPECT_EQ(PipelineSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

// The sums that a step would read are not yet there a step ahead.
TEST(PipelineStepsTest, WhatTheKernelWritesIsNotLoadedAhead) {
  Kernel kernel = Staged(2, kOut);
  const std::string before = kernel.ToString();
  EXPECT_EQ(PipelineSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

}  // namespace
}  // namespace tilewright::lowering

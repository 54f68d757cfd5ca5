#include "backends/lowering/threads/version_steps.h"

#include <string>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/threads/copied_steps.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

constexpr int kSteps = CopiedSteps::kSteps, kIn = CopiedSteps::kIn,
              kOut = CopiedSteps::kOut, kShared = CopiedSteps::kShared;

Kernel Buffered(int buffers, int copied = kIn) {
  For::Hints hints;
  hints.buffers = buffers;
  return CopiedSteps::Sums(hints, copied);
}

TEST(VersionStepsTest, EachStepCopiesForALaterOne) {
  for (const int buffers : {2, 3, 4}) {
    Kernel kernel = Buffered(buffers);
    const std::vector<float> before = CopiedSteps::Run(kernel);
    EXPECT_EQ(VersionSteps(kernel), 1);
    EXPECT_EQ(CopiedSteps::Run(kernel), before);
    EXPECT_EQ(kernel.buffers[kShared].versions, buffers);
    EXPECT_EQ(kernel.buffers[kShared].layout.shape(),
              (std::vector<int64_t>{buffers, CopiedSteps::kThreads}));
    // Zeros; the first rows; the steps.
    ASSERT_EQ(kernel.body.size(), 3u);
    const For& first = std::get<For>(kernel.body[1].node);
    EXPECT_EQ(first.extent, buffers - 1);
    EXPECT_TRUE(first.turns.ahead);
    const For& steps = std::get<For>(kernel.body[2].node);
    EXPECT_EQ(steps.extent, kSteps);
    EXPECT_EQ(steps.turns.versions, buffers);
    ASSERT_EQ(steps.body.size(), 2u);
    EXPECT_NE(std::get_if<If>(&steps.body[0].node), nullptr);
  }
}

// In registers: they are loaded at the start of a step, and stored at its end.
TEST(VersionStepsTest, OfTwoStagesStepsLoadAheadAndStoreBehind) {
  for (const int buffers : {2, 3}) {
    For::Hints hints;
    hints.buffers = buffers;
    hints.stages = 2;
    Kernel kernel = CopiedSteps::Sums(hints);
    const std::vector<float> before = CopiedSteps::Run(kernel);
    EXPECT_EQ(VersionSteps(kernel), 1);
    EXPECT_EQ(CopiedSteps::Run(kernel), before);
    EXPECT_EQ(kernel.buffers[kShared].versions, buffers);
    ASSERT_EQ(kernel.body.size(), 3u);
    const For& steps = std::get<For>(kernel.body[2].node);
    EXPECT_EQ(steps.extent, kSteps);
    EXPECT_FALSE(steps.turns.async);
    ASSERT_EQ(steps.body.size(), 3u);
    const auto copied = [&](int i) -> const TileOp& {
      const If& later = std::get<If>(steps.body[i].node);
      return std::get<TileOp>(
          std::get<For>(later.then_body[0].node).body[0].node);
    };
    const int registers = kernel.buffers.back().id;
    EXPECT_EQ(kernel.buffers[registers].level, Level::kRegisters);
    EXPECT_EQ(copied(0).dst[0], registers);
    EXPECT_EQ(copied(0).body[0].source(), kIn);
    EXPECT_EQ(copied(2).dst[0], kShared);
    EXPECT_EQ(copied(2).body[0].source(), registers);
    EXPECT_FALSE(copied(2).async);
  }
}

TEST(VersionStepsTest, ThereAreNoMoreVersionsThanSteps) {
  Kernel kernel = Buffered(9);
  EXPECT_EQ(VersionSteps(kernel), 1);
  EXPECT_EQ(kernel.buffers[kShared].versions, kSteps);
}

TEST(VersionStepsTest, LoopsOfOneBufferStayAsTheyAre) {
  Kernel kernel = Buffered(1);
  const std::string before = kernel.ToString();
  EXPECT_EQ(VersionSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

// The sums that a step would read are not yet there.
TEST(VersionStepsTest, WhatTheKernelWritesIsNotCopiedAhead) {
  Kernel kernel = Buffered(2, kOut);
  const std::string before = kernel.ToString();
  EXPECT_EQ(VersionSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

// A step behind the loop, as tails are, has the first version; what reads the
// last step's part keeps all as it was.
TEST(VersionStepsTest, PartsAreReadWhereTheyWereCopied) {
  Kernel kernel = Buffered(3);
  std::vector<Stmt> step =
      CloneStmts(std::get<For>(kernel.body[1].node).body,
                 {{std::get<For>(kernel.body[1].node).var, Expr::Int(2)}},
                 kernel.num_vars);
  for (const bool copies : {true, false}) {
    Kernel longer = kernel;
    if (copies) longer.body.push_back(step[0]);
    longer.body.push_back(step[1]);
    const std::vector<float> before = CopiedSteps::Run(longer);
    EXPECT_EQ(VersionSteps(longer), copies ? 1 : 0);
    EXPECT_EQ(CopiedSteps::Run(longer), before);
  }
}

}  // namespace
}  // namespace tilewright::lowering

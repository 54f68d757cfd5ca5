#include "backends/lowering/threads/pipeline_steps.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/tile_ir.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Role;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

constexpr int kSteps = 5, kThreads = 4;
constexpr int kIn = 0, kOut = 1, kShared = 2;

// For each of `kSteps` steps: threads copy a row of `in`, then each adds the
// row's elements, from the last thread's to the first's, to out[thread].
class PipelineStepsTest : public ::testing::Test {
 protected:
  PipelineStepsTest() {
    Add("in", Level::kGlobal, Role::kInput, {kSteps, kThreads});
    Add("out", Level::kGlobal, Role::kOutput, {kThreads});
    Add("shared", Level::kScratch, Role::kLocal, {kThreads});
    kernel_.name = "sums";
    kernel_.threads = kThreads;
  }

  void Add(const char* name, Level level, Role role,
           const std::vector<int64_t>& shape) {
    Buffer buffer;
    buffer.id = static_cast<int>(kernel_.buffers.size());
    buffer.name = name;
    buffer.dtype = DType::kFloat32;
    buffer.level = level;
    buffer.role = role;
    buffer.layout = Layout::RowMajor(shape);
    kernel_.buffers.push_back(std::move(buffer));
  }

  // A nest of its own around the operation, `t` being its thread.
  For Threads(int nest) {
    For loop;
    loop.var = kernel_.num_vars++;
    loop.name = "t";
    loop.extent = kThreads;
    loop.kind = For::Kind::kThread;
    loop.place.nest = nest;
    return loop;
  }
  static Expr VarOf(const For& loop) { return Expr::Var(loop.var, loop.name); }
  static TileOp Operation(TileOp::Phase phase, int dst, Expr index) {
    TileOp op;
    op.phase = phase;
    op.dst = {dst};
    op.index = {std::move(index)};
    return op;
  }

  Kernel Sums(int stages, int copied = kIn) {
    For steps;
    steps.var = kernel_.num_vars++;
    steps.name = "s";
    steps.extent = kSteps;
    steps.hints.stages = stages;

    For zero = Threads(1);
    TileOp init = Operation(TileOp::Phase::kMap, kOut, VarOf(zero));
    init.body = {Expr::Float(0)};
    zero.body.push_back(Stmt{std::move(init)});

    For copies = Threads(2);
    TileOp copy = Operation(TileOp::Phase::kMap, kShared, VarOf(copies));
    copy.body = {Expr::Load(copied, DType::kFloat32,
                            copied == kIn
                                ? std::vector<Expr>{VarOf(steps), VarOf(copies)}
                                : std::vector<Expr>{VarOf(copies)})};
    copies.body.push_back(Stmt{std::move(copy)});

    For sums = Threads(3);
    TileOp sum = Operation(TileOp::Phase::kUpdate, kOut, VarOf(sums));
    sum.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
    sum.body = {Expr::Load(kShared, DType::kFloat32,
                           {Expr::Int(kThreads - 1) - VarOf(sums)})};
    sums.body.push_back(Stmt{std::move(sum)});

    steps.body.push_back(Stmt{std::move(copies)});
    steps.body.push_back(Stmt{std::move(sums)});
    kernel_.body.push_back(Stmt{std::move(zero)});
    kernel_.body.push_back(Stmt{std::move(steps)});
    return std::move(kernel_);
  }

  static std::vector<float> Run(const Kernel& kernel) {
    std::vector<float> in(kSteps * kThreads), out(kThreads);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 1.5f * i;
    const auto bytes = [](const std::vector<float>& values) {
      return std::string(reinterpret_cast<const char*>(values.data()),
                         values.size() * sizeof(float));
    };
    std::vector<std::string> args = {bytes(in), bytes(out)};
    TW_EXPECT_OK(VerifyTileKernel(kernel));
    TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)));
    std::memcpy(out.data(), args[1].data(), args[1].size());
    return out;
  }

  Kernel kernel_;
};

TEST_F(PipelineStepsTest, NextStepsAreLoadedBeforeTheSumsOfThisOne) {
  Kernel kernel = Sums(/*stages=*/2);
  const std::vector<float> before = Run(kernel);
  EXPECT_EQ(PipelineSteps(kernel), 1);
  EXPECT_EQ(Run(kernel), before);
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

TEST_F(PipelineStepsTest, LoopsOfOneStageStayAsTheyAre) {
  Kernel kernel = Sums(/*stages=*/1);
  const std::string before = kernel.ToString();
  EXPECT_EQ(PipelineSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

// The sums that a step would read are not yet there a step ahead.
TEST_F(PipelineStepsTest, WhatTheKernelWritesIsNotLoadedAhead) {
  Kernel kernel = Sums(/*stages=*/2, /*copied=*/kOut);
  const std::string before = kernel.ToString();
  EXPECT_EQ(PipelineSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

}  // namespace
}  // namespace tilewright::lowering

#include "backends/lowering/threads/version_steps.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/tile_rewrite.h"
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
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Role;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

constexpr int kSteps = 5, kThreads = 4;
constexpr int kIn = 0, kOut = 1, kShared = 2;

// For each of `kSteps` steps: threads copy a row of `in`, then each adds the
// row's elements, from the last thread's to the first's, to out[thread].
class VersionStepsTest : public ::testing::Test {
 protected:
  VersionStepsTest() {
    Add("in", Level::kGlobal, Role::kInput, {kSteps, kThreads});
    Add("out", Level::kGlobal, Role::kOutput, {kThreads});
    Add("shared", Level::kScratch, Role::kLocal, {kThreads});
    kernel_.name = "sums";
    kernel_.threads = kThreads;
    one_ = kernel_;
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

  Kernel Sums(int buffers, int copied = kIn) {
    For steps;
    steps.var = kernel_.num_vars++;
    steps.name = "s";
    steps.extent = kSteps;
    steps.hints.buffers = buffers;

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
  Kernel one_;  // without a body
};

TEST_F(VersionStepsTest, EachStepCopiesForALaterOne) {
  for (const int buffers : {2, 3, 4}) {
    kernel_ = one_;
    Kernel kernel = Sums(buffers);
    const std::vector<float> before = Run(kernel);
    EXPECT_EQ(VersionSteps(kernel), 1);
    EXPECT_EQ(Run(kernel), before);
    EXPECT_EQ(kernel.buffers[kShared].versions, buffers);
    EXPECT_EQ(kernel.buffers[kShared].layout.shape(),
              (std::vector<int64_t>{buffers, kThreads}));
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

TEST_F(VersionStepsTest, ThereAreNoMoreVersionsThanSteps) {
  Kernel kernel = Sums(/*buffers=*/9);
  EXPECT_EQ(VersionSteps(kernel), 1);
  EXPECT_EQ(kernel.buffers[kShared].versions, kSteps);
}

TEST_F(VersionStepsTest, LoopsOfOneBufferStayAsTheyAre) {
  Kernel kernel = Sums(/*buffers=*/1);
  const std::string before = kernel.ToString();
  EXPECT_EQ(VersionSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

// The sums that a step would read are not yet there.
TEST_F(VersionStepsTest, WhatTheKernelWritesIsNotCopiedAhead) {
  Kernel kernel = Sums(/*buffers=*/2, /*copied=*/kOut);
  const std::string before = kernel.ToString();
  EXPECT_EQ(VersionSteps(kernel), 0);
  EXPECT_EQ(kernel.ToString(), before);
}

// A step behind the loop, as tails are, has the first version; what reads the
// last step's part keeps all as it was.
TEST_F(VersionStepsTest, PartsAreReadWhereTheyWereCopied) {
  Kernel kernel = Sums(/*buffers=*/3);
  std::vector<Stmt> step =
      CloneStmts(std::get<For>(kernel.body[1].node).body,
                 {{std::get<For>(kernel.body[1].node).var, Expr::Int(2)}},
                 kernel.num_vars);
  for (const bool copies : {true, false}) {
    Kernel longer = kernel;
    if (copies) longer.body.push_back(step[0]);
    longer.body.push_back(step[1]);
    const std::vector<float> before = Run(longer);
    EXPECT_EQ(VersionSteps(longer), copies ? 1 : 0);
    EXPECT_EQ(Run(longer), before);
  }
}

}  // namespace
}  // namespace tilewright::lowering

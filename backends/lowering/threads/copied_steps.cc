#include "backends/lowering/threads/copied_steps.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
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

void AddBuffer(const char* name, Level level, Role role,
               const std::vector<int64_t>& shape, Kernel& kernel) {
  Buffer buffer;
  buffer.id = static_cast<int>(kernel.buffers.size());
  buffer.name = name;
  buffer.dtype = DType::kFloat32;
  buffer.level = level;
  buffer.role = role;
  buffer.layout = Layout::RowMajor(shape);
  kernel.buffers.push_back(std::move(buffer));
}

// A nest of its own around the operation, `t` being its thread.
For Threads(int nest, Kernel& kernel) {
  For loop;
  loop.var = kernel.num_vars++;
  loop.name = "t";
  loop.extent = CopiedSteps::kThreads;
  loop.kind = For::Kind::kThread;
  loop.place.nest = nest;
  return loop;
}

Expr VarOf(const For& loop) { return Expr::Var(loop.var, loop.name); }

TileOp Operation(TileOp::Phase phase, int dst, Expr index, Expr value) {
  TileOp op;
  op.phase = phase;
  op.dst = {dst};
  op.index = {std::move(index)};
  op.body = {std::move(value)};
  return op;
}

}  // namespace

Kernel CopiedSteps::Sums(const For::Hints& hints, int copied) {
  Kernel kernel;
  kernel.name = "sums";
  kernel.threads = kThreads;
  AddBuffer("in", Level::kGlobal, Role::kInput, {kSteps, kThreads}, kernel);
  AddBuffer("out", Level::kGlobal, Role::kOutput, {kThreads}, kernel);
  AddBuffer("shared", Level::kScratch, Role::kLocal, {kThreads}, kernel);

  For steps;
  steps.var = kernel.num_vars++;
  steps.name = "s";
  steps.extent = kSteps;
  steps.hints = hints;

  For zero = Threads(1, kernel);
  zero.body.push_back(
      Stmt{Operation(TileOp::Phase::kMap, kOut, VarOf(zero), Expr::Float(0))});

  For copies = Threads(2, kernel);
  std::vector<Expr> at = {VarOf(copies)};
  if (copied == kIn) at.insert(at.begin(), VarOf(steps));
  copies.body.push_back(
      Stmt{Operation(TileOp::Phase::kMap, kShared, VarOf(copies),
                     Expr::Load(copied, DType::kFloat32, std::move(at)))});

  For sums = Threads(3, kernel);
  TileOp sum = Operation(TileOp::Phase::kUpdate, kOut, VarOf(sums),
                         Expr::Load(kShared, DType::kFloat32,
                                    {Expr::Int(kThreads - 1) - VarOf(sums)}));
  sum.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  sums.body.push_back(Stmt{std::move(sum)});

  steps.body.push_back(Stmt{std::move(copies)});
  steps.body.push_back(Stmt{std::move(sums)});
  kernel.body.push_back(Stmt{std::move(zero)});
  kernel.body.push_back(Stmt{std::move(steps)});
  return kernel;
}

std::vector<float> CopiedSteps::Run(const Kernel& kernel) {
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

}  // namespace tilewright::lowering

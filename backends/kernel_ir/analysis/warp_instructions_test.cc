#include "backends/kernel_ir/analysis/warp_instructions.h"

#include <utility>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"

namespace tilewright::kernel_ir {
namespace {

double InstructionsOf(ScalarBuilder builder) {
  return WarpInstructions(std::move(builder).Finish(), /*task=*/0);
}

// 100 threads are four warps, of which three have one below 70.
TEST(WarpInstructionsTest, CountsWarpsThatAreActive) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 100);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 100);
  const Reg thread = b.AddThreads(100, 32);
  b.BeginIf(b.Emit(Op::kLt, {thread, b.Int(70)}));
  const Reg loaded = b.Load(x, thread, 0);
  b.Store(y, thread, 0, b.Emit(Op::kAdd, {loaded, loaded}));
  b.EndIf();
  // The comparison of all; load, sum and store of three.
  EXPECT_EQ(InstructionsOf(std::move(b)), 4 + 3 * 3);
}

TEST(WarpInstructionsTest, VectorsCountByElementAndAccessesBy16Bytes) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 32 * 8);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 32 * 8);
  const Reg at = b.Mul(b.AddThreads(32, 32), b.Int(8));
  const Reg loaded = b.Load(x, at, 0, 8);
  b.Store(y, at, 0, b.Emit(Op::kDiv, {loaded, loaded}));
  // The index, two loads, two stores, eight divisions.
  EXPECT_EQ(InstructionsOf(std::move(b)),
            1 + 2 + 2 + 8 * kDivisionInstructions);
}

TEST(WarpInstructionsTest, LoopsCountAsTheirFirstTurn) {
  constexpr int kTurns = 5;
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 32);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 32);
  const Reg thread = b.AddThreads(32, 32);
  b.BeginFor(0, kTurns);
  b.Store(y, thread, 0, b.Load(x, thread, 0));
  b.EndFor();
  EXPECT_EQ(InstructionsOf(std::move(b)), kTurns * 2);
}

}  // namespace
}  // namespace tilewright::kernel_ir

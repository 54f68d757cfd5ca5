// Kernels whose accesses are counted by hand.
#include "bench/gpu/block_work.h"

#include <utility>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"
#include "tilegraph/gpu/hardware/warp_access.h"

namespace tilewright {
namespace {

using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

constexpr int64_t kSectorBytes = 32;

BlockWork WorkOf(ScalarBuilder builder) {
  return CountBlockWork(std::move(builder).Finish(), Banks{}, kSectorBytes);
}

// Two warps copy a row of 64 into shared memory and sum over columns of it.
TEST(BlockWorkTest, StagedSums) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 64);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 64);
  const int s = b.AddScratch("s", DType::kFloat32, 64 * 32);
  const Reg thread = b.AddThreads(64, 32);
  // A sector has eight elements: four of them a warp. A turn each.
  b.Store(s, thread, 0, b.Load(x, thread, 0));
  b.Barrier();
  const Reg sum = b.Variable(DType::kFloat32, 1);
  b.Assign(sum, b.Float(0));
  const Reg i = b.BeginFor(0, 10);
  // Lanes of a warp all in one bank: 32 turns. The same word for all: one.
  const Reg row = b.Load(s, b.Mul(thread, b.Int(32)), 0);
  b.AssignFma(sum, row, b.Load(s, i, 0), sum);
  b.EndFor();
  b.Store(y, thread, 0, sum);
  const BlockWork work = WorkOf(std::move(b));
  EXPECT_EQ(work.sectors, 2 * 4 + 2 * 4);
  EXPECT_EQ(work.shared_turns, 2 * 1 + 2 * 10 * (32 + 1));
  EXPECT_EQ(work.least_shared_turns, 2 * 1 + 2 * 10 * 2);
  EXPECT_EQ(work.warp_fmas, 2 * 10);
  EXPECT_EQ(work.waits, 1);
  EXPECT_EQ(work.covered_waits, 0);
}

// A step's operand is loaded, stored behind a barrier, used behind another;
// `ahead`: the multiply-adds of the step before stand between.
BlockWork Steps(bool ahead) {
  ScalarBuilder b("k");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 8 * 32);
  const int s = b.AddScratch("s", DType::kFloat32, 32);
  const Reg thread = b.AddThreads(32, 32);
  const Reg sum = b.Variable(DType::kFloat32, 1);
  b.Assign(sum, b.Float(0));
  const Reg step = b.BeginFor(0, 8);
  const Reg next = b.Load(x, b.Add(b.Mul(step, b.Int(32)), thread), 0);
  if (ahead) b.AssignFma(sum, b.Load(s, thread, 0), b.Float(2), sum);
  b.Barrier();
  b.Store(s, thread, 0, next);
  b.Barrier();
  if (!ahead) b.AssignFma(sum, b.Load(s, thread, 0), b.Float(2), sum);
  b.EndFor();
  return WorkOf(std::move(b));
}

TEST(BlockWorkTest, WaitsOfSteps) {
  EXPECT_EQ(Steps(false).waits, 8);
  EXPECT_EQ(Steps(false).covered_waits, 0);
  EXPECT_EQ(Steps(true).waits, 0);
  EXPECT_EQ(Steps(true).covered_waits, 8);
  EXPECT_EQ(Steps(true).warp_fmas, Steps(false).warp_fmas);
}

// Half of a warp takes part, in vectors of four elements: as wide as 16 bytes
// where they lie at multiples of them.
TEST(BlockWorkTest, VectorsOfSomeLanes) {
  for (const int shift : {0, 1}) {
    ScalarBuilder b("k");
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 65);
    const int s = b.AddScratch("s", DType::kFloat32, 65);
    const Reg thread = b.AddThreads(32, 32);
    b.BeginIf(b.Emit(Op::kLt, {thread, b.Int(16)}));
    const Reg at = b.Mul(thread, b.Int(4));
    b.Store(s, at, shift, b.Load(x, at, shift, 4));
    b.EndIf();
    const BlockWork work = WorkOf(std::move(b));
    // 256 bytes of memory; two groups of eight lanes, or four times sixteen
    // lanes, four of which share a bank.
    EXPECT_EQ(work.sectors, shift == 0 ? 8 : 9);
    EXPECT_EQ(work.shared_turns, shift == 0 ? 2 : 4 * 2);
    EXPECT_EQ(work.least_shared_turns, shift == 0 ? 2 : 4);
  }
}

// Threads beyond an end leave loops; nobody knows where a gather reads.
TEST(BlockWorkTest, BoundsOfThreadsAndUnknownIndices) {
  ScalarBuilder b("k");
  const int at = b.AddArgument("at", DType::kInt32, Role::kInput, 64);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 64);
  const int s = b.AddScratch("s", DType::kFloat32, 100);
  const Reg thread = b.AddThreads(64, 32);
  const Reg i = b.BeginForRegs(thread, b.Int(40), 64);
  b.Store(s, i, 0, b.Load(x, b.Load(at, i, 0), 0));
  b.EndFor();
  const BlockWork work = WorkOf(std::move(b));
  // 40 threads: four sectors and one of indices, as many of elements.
  EXPECT_EQ(work.sectors, 2 * (4 + 1));
  EXPECT_EQ(work.shared_turns, 2);
  EXPECT_EQ(work.waits, 1);
}

}  // namespace
}  // namespace tilewright

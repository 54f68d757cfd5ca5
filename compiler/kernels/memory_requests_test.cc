// Kernels whose requests are counted by hand. Those of whole models are
// compared with the emulator's (bench/gpu:memory_counts_test).
#include "compiler/kernels/memory_requests.h"

#include <cstdint>
#include <utility>
#include <vector>

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

std::vector<BufferRequests> RequestsOf(ScalarBuilder builder) {
  return CountRequests(std::move(builder).Finish(), Banks{}, kSectorBytes);
}

// Blocks of 64 threads copy rows of 100 elements, the second step of which is
// not whole, and read columns of them.
TEST(MemoryRequestsTest, AllBlocksOfACopy) {
  constexpr int kBlocks = 3;
  ScalarBuilder b("k", kBlocks);
  const int x =
      b.AddArgument("x", DType::kFloat32, Role::kInput, kBlocks * 128);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 64);
  const int s = b.AddScratch("s", DType::kFloat32, 32 * 64);
  const Reg thread = b.AddThreads(64, 32);
  const Reg i = b.BeginForRegs(thread, b.Int(100), 64);
  b.Store(s, i, 0, b.Load(x, b.Add(b.Mul(b.task(), b.Int(128)), i), 0));
  b.EndFor();
  b.Barrier();
  b.BeginIf(b.Emit(Op::kEq, {b.task(), b.Int(0)}));
  b.Store(y, thread, 0, b.Load(s, b.Mul(thread, b.Int(32)), 0));
  b.EndIf();
  const std::vector<BufferRequests> requests = RequestsOf(std::move(b));
  // 12 whole sectors and half of one.
  EXPECT_EQ(requests[x].sectors, kBlocks * 13);
  EXPECT_EQ(requests[y].sectors, 8);
  // Of 128 bytes: four in which are whole warps, or a part of one.
  EXPECT_EQ(requests[x].lines, kBlocks * 4);
  EXPECT_EQ(requests[y].lines, 2);
  EXPECT_EQ(requests[s].lines, 0);
  // Four warps store; in the first block two read one bank.
  EXPECT_EQ(requests[s].turns, kBlocks * 4 + 2 * 32);
  EXPECT_EQ(requests[x].turns, 0);
  EXPECT_EQ(requests[s].sectors, 0);
}

// Elements of vectors that are not aligned are asked for one after the other,
// and those of a lane lie in one sector.
TEST(MemoryRequestsTest, VectorsThatAreNotAligned) {
  for (const int shift : {0, 1}) {
    ScalarBuilder b("k");
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 160);
    const int s = b.AddScratch("s", DType::kFloat32, 160);
    const Reg at = b.Mul(b.AddThreads(32, 32), b.Int(4));
    b.Store(s, at, shift, b.Load(x, at, shift, 4));
    const std::vector<BufferRequests> requests = RequestsOf(std::move(b));
    // Of elements 1 to 4, the last ones of each lane are the next lane's first.
    EXPECT_EQ(requests[x].sectors, shift == 0 ? 16 : 16 + 16 + 16 + 17);
    EXPECT_EQ(requests[s].turns, shift == 0 ? 4 : 4 * 4);
  }
}

// Too many blocks to look at all. Every eighth one stores half as much.
TEST(MemoryRequestsTest, SamplesComeNear) {
  constexpr int kBlocks = 64 * 1024;
  ScalarBuilder b("k", kBlocks);
  const int y =
      b.AddArgument("y", DType::kFloat32, Role::kOutput, kBlocks * 64);
  const Reg thread = b.AddThreads(64, 32);
  const Reg most = b.Select(
      b.Emit(Op::kEq, {b.Emit(Op::kFloorMod, {b.task(), b.Int(8)}), b.Int(0)}),
      b.Int(32), b.Int(64));
  const Reg i = b.BeginForRegs(thread, most, 64);
  b.Store(y, b.Add(b.Mul(b.task(), b.Int(64)), i), 0, b.Float(1));
  b.EndFor();
  const double exact = kBlocks * (7.0 / 8 * 8 + 1.0 / 8 * 4);
  EXPECT_NEAR(RequestsOf(std::move(b))[y].sectors, exact, 0.01 * exact);
}

}  // namespace
}  // namespace tilewright

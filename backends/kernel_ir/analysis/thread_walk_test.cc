// Kernels whose accesses are listed by hand.
#include "backends/kernel_ir/analysis/thread_walk.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"

namespace tilewright::kernel_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int64_t kIdle = ThreadAccess::kIdle;

struct Seen {
  ThreadAccess access;
  double times = 1;
};

std::vector<Seen> AccessesOf(ScalarBuilder builder, int64_t task,
                             int64_t most_turns) {
  class Lister : public ThreadVisitor {
   public:
    void Access(const ThreadAccess& access, double times) override {
      seen.push_back({access, times});
    }
    std::vector<Seen> seen;
  } lister;
  WalkThreads(std::move(builder).Finish(), task, most_turns, lister);
  return lister.seen;
}

// Thread t of block b reads X[4 b + t], where that is an element, and writes
// shared memory.
TEST(ThreadWalkTest, IndicesOfBlocksAndThreads) {
  for (const int64_t task : {0, 2}) {
    ScalarBuilder b("k", 3);
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 10);
    const int s = b.AddScratch("s", DType::kFloat32, 4);
    const Reg thread = b.AddThreads(4, 4);
    const int own = b.AddPerThread("own", DType::kFloat32, 1);
    const Reg at = b.Add(b.Mul(b.task(), b.Int(4)), thread);
    const Reg value = b.Load(x, at, 0, 1, 0, b.Emit(Op::kLt, {at, b.Int(10)}));
    b.Store(own, b.Int(0), 0, value);
    b.Store(s, thread, 0, b.Load(own, b.Int(0), 0));
    const std::vector<Seen> seen = AccessesOf(std::move(b), task, 1);
    ASSERT_THAT(seen, SizeIs(2));
    EXPECT_EQ(seen[0].access.buffer, x);
    if (task == 0)
      EXPECT_THAT(seen[0].access.first, ElementsAre(0, 1, 2, 3));
    else
      EXPECT_THAT(seen[0].access.first, ElementsAre(8, 9, kIdle, kIdle));
    EXPECT_EQ(seen[1].access.buffer, s);
    EXPECT_THAT(seen[1].access.first, ElementsAre(0, 1, 2, 3));
  }
}

// Of ten turns four are taken: the first, the last, and two for the eight
// between.
TEST(ThreadWalkTest, LongLoopsAreSampled) {
  const auto loop = [] {
    ScalarBuilder b("k");
    const int s = b.AddScratch("s", DType::kFloat32, 10);
    b.AddThreads(1, 1);
    const Reg i = b.BeginFor(0, 10);
    b.Store(s, i, 0, b.Float(0));
    b.EndFor();
    return b;
  };
  const std::vector<Seen> all = AccessesOf(loop(), 0, 10);
  ASSERT_THAT(all, SizeIs(10));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_THAT(all[i].access.first, ElementsAre(i));
    EXPECT_EQ(all[i].times, 1);
  }
  const std::vector<Seen> some = AccessesOf(loop(), 0, 4);
  ASSERT_THAT(some, SizeIs(4));
  const int64_t turns[] = {0, 3, 6, 9};  // 1 + 5 and 1 + 10 mod 8
  const double times[] = {1, 4, 4, 1};
  for (size_t i = 0; i < some.size(); ++i) {
    EXPECT_THAT(some[i].access.first, ElementsAre(turns[i]));
    EXPECT_EQ(some[i].times, times[i]);
  }
  const std::vector<Seen> two = AccessesOf(loop(), 0, 2);
  ASSERT_THAT(two, SizeIs(2));
  EXPECT_EQ(two[0].times, 5);
  EXPECT_EQ(two[1].times, 5);
  const std::vector<Seen> first = AccessesOf(loop(), 0, 1);
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].times, 10);
}

// Thread t begins at t: the second turn is one of the first two threads alone.
TEST(ThreadWalkTest, ThreadsLeaveLoopsAndBranches) {
  ScalarBuilder b("k");
  const int s = b.AddScratch("s", DType::kFloat32, 8);
  const Reg thread = b.AddThreads(4, 4);
  const Reg i = b.BeginForRegs(thread, b.Int(6), 4);
  b.BeginIf(b.Emit(Op::kNe, {thread, b.Int(2)}));
  b.Store(s, i, 0, b.Float(0));
  b.BeginElse();
  b.Store(s, i, 1, b.Float(0));
  b.EndIf();
  b.EndFor();
  const std::vector<Seen> seen = AccessesOf(std::move(b), 0, 8);
  ASSERT_THAT(seen, SizeIs(3));
  EXPECT_THAT(seen[0].access.first, ElementsAre(0, 1, kIdle, 3));
  EXPECT_THAT(seen[1].access.first, ElementsAre(kIdle, kIdle, 3, kIdle));
  EXPECT_THAT(seen[2].access.first, ElementsAre(4, 5, kIdle, kIdle));
}

// A vector is one access where its index is a multiple, 16 bytes at most.
TEST(ThreadWalkTest, VectorsInPieces) {
  const auto piece = [](int lanes, int64_t shift, int active) {
    ScalarBuilder b("k");
    const int s = b.AddScratch("s", DType::kFloat32, 100);
    const Reg thread = b.AddThreads(2, 2);
    b.Store(s, b.Mul(thread, b.Int(8)), shift,
            b.Float(0, DType::kFloat32, lanes), active);
    const std::vector<Seen> seen = AccessesOf(std::move(b), 0, 1);
    EXPECT_THAT(seen, SizeIs(1));
    EXPECT_EQ(seen[0].access.lanes, active > 0 ? active : lanes);
    return seen[0].access.piece;
  };
  EXPECT_EQ(piece(2, 0, 0), 2);
  EXPECT_EQ(piece(4, 0, 0), 4);
  EXPECT_EQ(piece(8, 0, 0), 4);
  EXPECT_EQ(piece(4, 1, 0), 1);
  EXPECT_EQ(piece(4, 2, 0), 1);
  EXPECT_EQ(piece(4, 0, 3), 1);
}

// Nobody knows where a gather reads, nor where a branch on data goes.
TEST(ThreadWalkTest, WhatIsReadIsNotKnown) {
  ScalarBuilder b("k");
  const int at = b.AddArgument("at", DType::kInt32, Role::kInput, 4);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 64);
  const int s = b.AddScratch("s", DType::kFloat32, 8);
  const Reg thread = b.AddThreads(4, 2);
  const Reg index = b.Load(at, thread, 0);
  const Reg value = b.Load(x, index, 0);
  b.BeginIf(b.Emit(Op::kLt, {index, b.Int(3, DType::kInt32)}));
  b.Store(s, thread, 0, value);
  b.BeginElse();
  b.Store(s, thread, 4, value);
  b.EndIf();
  const std::vector<Seen> seen = AccessesOf(std::move(b), 0, 1);
  ASSERT_THAT(seen, SizeIs(4));
  EXPECT_EQ(seen[1].access.buffer, x);
  EXPECT_THAT(seen[1].access.first, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(seen[2].access.first, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(seen[3].access.first, ElementsAre(4, 5, 6, 7));
}

}  // namespace
}  // namespace tilewright::kernel_ir

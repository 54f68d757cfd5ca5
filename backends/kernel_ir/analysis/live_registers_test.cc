// Kernels whose live values are counted by hand.
#include "backends/kernel_ir/analysis/live_registers.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"

namespace tilewright::kernel_ir {
namespace {

// A kernel of one thread, whose task nobody reads.
class LiveRegistersTest : public testing::Test {
 protected:
  int64_t Live() { return LiveRegisters(std::move(b_).Finish()).live; }

  ScalarBuilder b_{"k"};
  const int x_ = b_.AddArgument("x", DType::kFloat32, Role::kInput, 1024);
  const int y_ = b_.AddArgument("y", DType::kFloat32, Role::kOutput, 1024);
};

// Their sum takes the place of one of them; the index is there to the end.
TEST_F(LiveRegistersTest, ValuesUntilTheyAreLastRead) {
  const Reg at = b_.task();
  const Reg a = b_.Load(x_, at, 0, 4);
  const Reg b = b_.Load(x_, at, 4, 4);
  const Reg sum = b_.Add(a, b);
  b_.Store(y_, at, 0, sum);
  EXPECT_EQ(Live(), 1 + 4 + 4);
}

TEST_F(LiveRegistersTest, OneAfterTheOther) {
  for (int i = 0; i < 10; ++i)
    b_.Store(y_, b_.task(), 8 * i, b_.Load(x_, b_.task(), 8 * i, 8));
  EXPECT_EQ(Live(), 1 + 8);
}

// All of them wait for the last.
TEST_F(LiveRegistersTest, SideBySide) {
  std::vector<Reg> values;
  for (int i = 0; i < 10; ++i)
    values.push_back(b_.Emit(Op::kNeg, {b_.Load(x_, kNoReg, i)}));
  for (int i = 0; i < 10; ++i) b_.Store(y_, kNoReg, i, values[i]);
  EXPECT_EQ(Live(), 10);
}

// Each may wait until it is read, and all may be there before.
TEST_F(LiveRegistersTest, LoadsMove) {
  std::vector<Reg> values;
  for (int i = 0; i < 10; ++i) values.push_back(b_.Load(x_, kNoReg, i));
  for (int i = 0; i < 10; ++i) b_.Store(y_, kNoReg, i, values[i]);
  const RegisterNeeds needs = LiveRegisters(std::move(b_).Finish());
  EXPECT_EQ(needs.live, 1);
  EXPECT_EQ(needs.with_loads, 10);
}

// Where they wait their indices do, too: one's own until it is there.
TEST_F(LiveRegistersTest, IndicesOfLoadsThatMove) {
  std::vector<Reg> values;
  for (int i = 0; i < 10; ++i)
    values.push_back(b_.Load(x_, b_.Mul(b_.task(), b_.Int(i + 2)), 0, 4));
  for (int i = 0; i < 10; ++i) b_.Store(y_, kNoReg, 4 * i, values[i]);
  EXPECT_EQ(Live(), 10 + 4);
}

// No load passes a barrier, none of shared memory a store to it.
TEST(LoadsTest, WhatTheyDoNotPass) {
  enum { kBarrier, kStore, kNothing };
  for (const bool shared : {false, true}) {
    for (const int between : {kBarrier, kStore, kNothing}) {
      ScalarBuilder b("k");
      const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 64);
      const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 64);
      const int s = b.AddScratch("s", DType::kFloat32, 64);
      b.AddThreads(32, 32);
      const int from = shared ? s : x;
      const Reg early = b.Load(from, kNoReg, 0, 4);
      if (between == kBarrier) b.Barrier();
      if (between == kStore) b.Store(s, kNoReg, 0, b.Float(0));
      const Reg late = b.Load(from, kNoReg, 4, 8);
      b.Store(y, kNoReg, 0, late);
      b.Store(y, kNoReg, 16, early);
      const RegisterNeeds needs = LiveRegisters(std::move(b).Finish());
      const bool moves = between == kNothing || (between == kStore && !shared);
      EXPECT_EQ(needs.live, moves ? 8 : 12) << shared << between;
      EXPECT_EQ(needs.with_loads, 12) << shared << between;
    }
  }
}

// The lane that is used, not the vector; no constants.
TEST_F(LiveRegistersTest, NamesTakeNone) {
  const Reg vector = b_.Load(x_, kNoReg, 0, 8);
  const Reg lane = b_.Lane(vector, 3);
  const Reg splat = b_.Splat(lane, 4);
  for (int i = 0; i < 5; ++i) b_.Store(y_, kNoReg, 4 * i, splat);
  b_.Store(y_, kNoReg, 32, b_.Float(1, DType::kFloat32, 8));
  EXPECT_EQ(Live(), 1);
  ScalarBuilder late("late");
  const int x = late.AddArgument("x", DType::kFloat32, Role::kInput, 64);
  const int y = late.AddArgument("y", DType::kFloat32, Role::kOutput, 64);
  const Reg all = late.Emit(Op::kNeg, {late.Load(x, kNoReg, 0, 8)});
  const Reg one = late.Lane(all, 3);
  const Reg other = late.Load(x, kNoReg, 8, 8);
  late.Store(y, kNoReg, 0, other);
  late.Store(y, kNoReg, 8, late.Splat(one, 4));
  // Of the first vector one lane waits while the second is there.
  EXPECT_EQ(LiveRegisters(std::move(late).Finish()).live, 1 + 8);
}

// What a loop reads of outside is there at its end too, for the next turn;
// what it makes itself is not.
TEST_F(LiveRegistersTest, Loops) {
  const Reg outside = b_.Load(x_, kNoReg, 0, 4);
  const Reg sum = b_.Variable(DType::kFloat32, 4);
  b_.Assign(sum, b_.Float(0, DType::kFloat32, 4));
  const Reg i = b_.BeginFor(0, 10);
  b_.AssignFma(sum, b_.Load(x_, i, 0, 4), outside, sum);
  const Reg last = b_.Load(x_, i, 8, 16);
  b_.Store(y_, i, 0, last);
  b_.EndFor();
  b_.Store(y_, kNoReg, 0, sum);
  EXPECT_EQ(Live(), 4 + 4 + 1 + 16);
}

// Sums that begin as zeros do not wait for their loop; those that are read do.
TEST_F(LiveRegistersTest, VariablesThatBeginAsConstants) {
  std::vector<Reg> sums;
  for (int k = 0; k < 2; ++k) {
    sums.push_back(b_.Variable(DType::kFloat32, 8));
    b_.Assign(sums[k], b_.Float(0, DType::kFloat32, 8));
  }
  for (int k = 0; k < 2; ++k) {
    const Reg i = b_.BeginFor(0, 4);
    b_.AssignFma(sums[k], b_.Load(x_, i, 0, 8), b_.Load(x_, i, 8, 8), sums[k]);
    b_.EndFor();
    b_.Store(y_, kNoReg, 8 * k, sums[k]);
  }
  // Of one loop at a time: counter, sums, two operands.
  EXPECT_EQ(Live(), 1 + 8 + 8 + 8);
}

// Those of all turns that are unrolled together, whatever memory they are from.
TEST(LoadsTest, OfLaterTurns) {
  const auto needs = [](int trips, int unroll, bool shared) {
    ScalarBuilder b("k");
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 1024);
    const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 1024);
    const int s = b.AddScratch("s", DType::kFloat32, 1024);
    const Reg i = b.BeginFor(0, trips, 1, unroll);
    b.Store(y, i, 0, b.Load(shared ? s : x, i, 0, 8));
    b.EndFor();
    return LiveRegisters(std::move(b).Finish());
  };
  for (const bool shared : {false, true}) {
    for (const int unroll : {2, 4, 8}) {
      EXPECT_EQ(needs(64, unroll, shared).live, 1 + 8);
      EXPECT_EQ(needs(64, unroll, shared).with_loads, 1 + 8 * unroll);
    }
    EXPECT_EQ(needs(4, 8, shared).with_loads, 1 + 8 * 4);
    // Nobody says: short loops as a whole, long ones by 32 of these turns of
    // four instructions, by an odd number by eight.
    EXPECT_EQ(needs(64, 1, shared).with_loads, 1 + 8 * 64);
    EXPECT_EQ(needs(96, 1, shared).with_loads, 1 + 8 * 32);
    EXPECT_EQ(needs(101, 1, shared).with_loads, 1 + 8 * 8);
  }
}

TEST_F(LiveRegistersTest, SidesOfABranch) {
  const Reg at = b_.task();
  b_.BeginIf(b_.Emit(Op::kLt, {at, b_.Int(3)}));
  b_.Store(y_, at, 0, b_.Load(x_, at, 0, 8));
  b_.BeginElse();
  b_.Store(y_, at, 0, b_.Load(x_, at, 8, 16));
  b_.EndIf();
  EXPECT_EQ(Live(), 1 + 16);
}

// A variable that both sides use is not there between them.
TEST_F(LiveRegistersTest, VariablesOfBothSides) {
  const Reg sum = b_.Variable(DType::kFloat32, 8);
  b_.Assign(sum, b_.Float(0, DType::kFloat32, 8));
  const auto side = [&](int constant) {
    b_.AssignFma(sum, b_.Load(x_, kNoReg, constant, 8),
                 b_.Load(x_, kNoReg, constant + 8, 8), sum);
    b_.Store(y_, kNoReg, 0, sum);
  };
  b_.BeginIf(b_.Emit(Op::kLt, {b_.task(), b_.Int(3)}));
  side(0);
  b_.BeginElse();
  const Reg before = b_.Load(x_, kNoReg, 128, 16);
  b_.Store(y_, kNoReg, 32, b_.Emit(Op::kNeg, {before}));
  side(64);
  b_.EndIf();
  EXPECT_EQ(Live(), 8 + 8 + 8);
}

// What both sides read is there before them, and what one sets is not.
TEST_F(LiveRegistersTest, AcrossABranch) {
  const Reg sum = b_.Variable(DType::kFloat32, 8);
  b_.Assign(sum, b_.Load(x_, kNoReg, 0, 8));
  const Reg other = b_.Emit(Op::kNeg, {b_.Load(x_, kNoReg, 8, 4)});
  b_.BeginIf(b_.Emit(Op::kLt, {b_.task(), b_.Int(3)}));
  b_.Assign(sum, b_.Load(x_, kNoReg, 16, 8));
  b_.EndIf();
  b_.Store(y_, kNoReg, 0, sum);
  b_.Store(y_, kNoReg, 8, other);
  EXPECT_EQ(Live(), 8 + 4 + 1);
}

// Zeros of a branch behind zeros are none the less.
TEST_F(LiveRegistersTest, ConstantsOfABranch) {
  const Reg sum = b_.Variable(DType::kFloat32, 32);
  const Reg zero = b_.Float(0, DType::kFloat32, 32);
  b_.Assign(sum, zero);
  const Reg some = b_.Emit(Op::kLt, {b_.task(), b_.Int(3)});
  b_.BeginIf(some);
  b_.Assign(sum, zero);
  b_.EndIf();
  b_.Store(y_, kNoReg, 0, b_.Load(x_, kNoReg, 0, 32));
  b_.BeginIf(some);
  b_.AssignOp(sum, Op::kAdd, {sum, b_.Load(x_, kNoReg, 32, 1 * 32)});
  b_.Store(y_, kNoReg, 32, sum);
  b_.EndIf();
  EXPECT_EQ(Live(), 32 + 32);
}

// To the end of a loop that reads it before it sets it, and no longer than to
// where it is set before it is read.
TEST_F(LiveRegistersTest, FromTurnToTurn) {
  for (const bool carried : {false, true}) {
    ScalarBuilder b("k");
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 1024);
    const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 1024);
    const Reg last = b.Variable(DType::kFloat32, 8);
    b.Assign(last, b.Load(x, kNoReg, 0, 8));
    b.Store(y, kNoReg, 512, last);
    const Reg i = b.BeginFor(0, 10);
    if (carried) b.Store(y, i, 0, last);
    b.Assign(last, b.Load(x, i, 0, 8));
    if (!carried) b.Store(y, i, 0, last);
    b.Store(y, i, 8, b.Emit(Op::kNeg, {b.Load(x, i, 8, 16)}));
    b.EndFor();
    EXPECT_EQ(LiveRegisters(std::move(b).Finish()).live,
              1 + 16 + (carried ? 8 : 0));
  }
}

}  // namespace
}  // namespace tilewright::kernel_ir

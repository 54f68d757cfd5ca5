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
  for (int i = 0; i < 10; ++i) values.push_back(b_.Load(x_, kNoReg, i));
  for (int i = 0; i < 10; ++i) b_.Store(y_, kNoReg, i, values[i]);
  EXPECT_EQ(Live(), 10);
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
  const Reg all = late.Load(x, kNoReg, 0, 8);
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

// Later turns' loads: a quarter of those from shared memory, and no more than
// 16 words; all of all eight turns, if there is room for them.
TEST_F(LiveRegistersTest, LoadsOfLaterTurns) {
  const auto live = [](int unroll, bool shared) {
    ScalarBuilder b("k");
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 1024);
    const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 1024);
    const int s = b.AddScratch("s", DType::kFloat32, 1024);
    const Reg i = b.BeginFor(0, 8, 1, unroll);
    b.Store(y, i, 0, b.Load(shared ? s : x, i, 0, 8));
    b.EndFor();
    return LiveRegisters(std::move(b).Finish());
  };
  for (const int unroll : {1, 8}) {
    EXPECT_EQ(live(unroll, false).live, 1 + 8);
    EXPECT_EQ(live(unroll, false).with_loads, 1 + 8 * 8);
    EXPECT_EQ(live(unroll, true).with_loads, 1 + 8 * 8);
  }
  EXPECT_EQ(live(1, true).live, 1 + 8);
  EXPECT_EQ(live(2, true).live, 1 + 8 + 2);
  EXPECT_EQ(live(4, true).live, 1 + 8 + 6);
  EXPECT_EQ(live(8, true).live, 1 + 8 + 14);
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

}  // namespace
}  // namespace tilewright::kernel_ir

#include "backends/kernel_ir/divisors.h"

#include <utility>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::kernel_ir {
namespace {

TEST(DivisorsTest, FollowIndexArithmetic) {
  ScalarBuilder b("f", 8);
  const Reg i = b.BeginFor(12, 96, 8);
  const Reg row = b.Mul(b.task(), b.Int(24));
  const Reg sum = b.Add(row, i);
  const Reg part = b.Emit(Op::kFloorMod, {row, b.Int(36)});
  const Reg either = b.Select(b.Emit(Op::kLt, {i, b.Int(40)}), row, b.Int(32));
  const Reg narrow = b.Cast(DType::kInt32, row);
  const Reg quotient = b.Emit(Op::kFloorDiv, {row, b.Int(3)});
  b.EndFor();
  const ScalarKernel kernel = std::move(b).Finish();
  const Divisors divisors(kernel);
  EXPECT_EQ(divisors.Of(kernel.task), 1);
  EXPECT_EQ(divisors.Of(i), 4);
  EXPECT_EQ(divisors.Of(row) % 8, 0);
  EXPECT_EQ(divisors.Of(sum), 4);
  EXPECT_EQ(divisors.Of(part), 4);
  EXPECT_EQ(divisors.Of(either), 8);
  EXPECT_EQ(divisors.Of(narrow), divisors.Of(row));
  EXPECT_EQ(divisors.Of(quotient), 1);
  EXPECT_EQ(divisors.Of(kNoReg), 0);
  EXPECT_TRUE(divisors.Divides(4, sum, -8));
  EXPECT_FALSE(divisors.Divides(4, sum, 2));
  EXPECT_FALSE(divisors.Divides(8, sum, 8));
  EXPECT_TRUE(divisors.Divides(16, kNoReg, 48));
}

// Nobody follows what a variable takes.
TEST(DivisorsTest, NothingIsKnownOfVariables) {
  ScalarBuilder b("f", 8);
  const Reg v = b.Variable(DType::kInt64, 1);
  b.Assign(v, b.Int(64));
  const ScalarKernel kernel = std::move(b).Finish();
  EXPECT_EQ(Divisors(kernel).Of(v), 1);
}

}  // namespace
}  // namespace tilewright::kernel_ir

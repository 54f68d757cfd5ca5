#include "tilegraph/expr/normal_exp.h"

#include <cmath>
#include <limits>
#include <utility>

#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright {
namespace {

Expr Exp(Expr x) { return Expr::Make(Op::kExp, {std::move(x)}); }

TEST(NormalExpTest, ExponentsAreRecognised) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const Expr x = Expr::Load(0, dtype, {});
    EXPECT_EQ(ExponentOf(NormalExp(x)), x);
    EXPECT_EQ(ExponentOf(Exp(x)), x);
    EXPECT_FALSE(ExponentOf(x));
    // With another bound it is the exponential of what selects.
    const Expr other = Expr::Make(
        Op::kSelect, {Expr::Make(Op::kLt, {x, Expr::Float(-20, dtype)}),
                      Expr::Float(-INFINITY, dtype), x});
    EXPECT_EQ(ExponentOf(Exp(other)), other);
  }
}

// The least exponents that are kept, and 1 less.
TEST(NormalExpTest, BoundsLieAtTheNormalNumbers) {
  const auto bound = [](DType dtype) {
    return NormalExp(Expr::Load(0, dtype, {}))
        .operand(0)
        .operand(0)
        .operand(1)
        .float_value();
  };
  const double least_float = std::numeric_limits<float>::min(),
               least_double = std::numeric_limits<double>::min();
  EXPECT_GT(std::exp(bound(DType::kFloat32)), least_float);
  EXPECT_LT(std::exp(bound(DType::kFloat32) - 1), least_float);
  EXPECT_GT(std::exp(bound(DType::kFloat64)), least_double);
  EXPECT_LT(std::exp(bound(DType::kFloat64) - 1), least_double);
}

}  // namespace
}  // namespace tilewright

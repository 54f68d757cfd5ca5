#include "tilegraph/reference/bounded_functions.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::reference_internal {
namespace {

constexpr double kUnit = 0x1p-24;

double Exact(Op op, double x) {
  switch (op) {
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kSqrt:
      return std::sqrt(x);
    case Op::kTanh:
      return std::tanh(x);
    case Op::kErf:
      return std::erf(x);
    case Op::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Op::kSin:
      return std::sin(x);
    default:
      return std::cos(x);
  }
}

// If the argument is off by at most its bound, the result is off by at most
// four times its own: that is what may be asked of a kernel.
TEST(BoundedFunctionsTest, BoundsOfFunctionsCoverErrorsOfTheirArguments) {
  Random random(7);
  for (const Op op : {Op::kExp, Op::kLog, Op::kSqrt, Op::kTanh, Op::kErf,
                      Op::kSigmoid, Op::kSin, Op::kCos}) {
    const bool positive = op == Op::kLog || op == Op::kSqrt;
    for (int i = 0; i < 20000; ++i) {
      const double x =
          positive ? std::exp(random.Uniform(-8, 8)) : random.Uniform(-12, 12);
      const double e = std::fabs(x) * std::exp(random.Uniform(-20, -3));
      const Bounded r = UnaryFunction(op, {x, e}, kUnit);
      for (const double moved : {x - e, x + e}) {
        ASSERT_LE(std::fabs(Exact(op, moved) - r.v), kBoundFactor * r.e)
            << Name(op) << " at " << x << " with error " << e;
      }
    }
  }
}

TEST(BoundedFunctionsTest, BoundsOfExactArgumentsAreAFewUnits) {
  for (const Op op : {Op::kExp, Op::kTanh, Op::kErf, Op::kSigmoid, Op::kLog,
                      Op::kSqrt, Op::kSin, Op::kCos}) {
    const Bounded r = UnaryFunction(op, {0.7, 0}, kUnit);
    EXPECT_GE(r.e, kUnit * std::fabs(r.v)) << Name(op);
    EXPECT_LE(r.e, 8 * kUnit * std::fabs(r.v)) << Name(op);
  }
}

TEST(BoundedFunctionsTest, OutsideADomainTheBoundIsInfinite) {
  EXPECT_TRUE(std::isinf(UnaryFunction(Op::kLog, {1e-9, 1e-6}, kUnit).e));
  EXPECT_TRUE(std::isinf(Power({1e-9, 1e-6}, {0.5, 0}, kUnit).e));
}

TEST(BoundedFunctionsTest, RoundingToIntegerIsCertainExceptNearAStep) {
  EXPECT_EQ(UnaryFunction(Op::kFloor, {2.5, 1e-6}, kUnit).e, 0);
  EXPECT_EQ(UnaryFunction(Op::kFloor, {3 - 1e-7, 1e-6}, kUnit).e, 1);
  EXPECT_EQ(UnaryFunction(Op::kRound, {2.5, 1e-6}, kUnit).e, 1);
  EXPECT_EQ(UnaryFunction(Op::kRound, {2.4, 1e-6}, kUnit).e, 0);
}

// fp32 keeps few digits of what is nearly zero.
TEST(BoundedFunctionsTest,
     ExponentialsNearZeroAreMultiplesOfTheSmallestNumber) {
  const Bounded tiny = UnaryFunction(Op::kExp, {-100, 0}, kUnit);
  const double nearest = static_cast<double>(static_cast<float>(tiny.v));
  EXPECT_NE(nearest, tiny.v);
  EXPECT_GE(tiny.e, std::fabs(nearest - tiny.v));
}

TEST(BoundedFunctionsTest, AnInfiniteValueIsNoUncertainOne) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(UnaryFunction(Op::kExp, {-infinity, 0}, kUnit).v, 0);
  EXPECT_EQ(UnaryFunction(Op::kExp, {-infinity, 0}, kUnit).e, 0);
  EXPECT_EQ(UnaryFunction(Op::kExp, {infinity, 0}, kUnit).e, 0);
}

}  // namespace
}  // namespace tilewright::reference_internal

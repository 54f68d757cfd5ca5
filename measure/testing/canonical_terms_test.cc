#include "measure/testing/canonical_terms.h"

#include <cmath>

#include "gtest/gtest.h"
#include "measure/testing/symbolic_terms.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::measure {
namespace {

class CanonicalTermsTest : public testing::Test {
 protected:
  static constexpr DType kF32 = DType::kFloat32;

  Term In(int element) { return terms_.Input(kF32, 0, element); }
  Term Number(double value) { return terms_.Const(kF32, {value, 0}); }
  Term Make(Op op, Term a) { return terms_.Apply(op, kF32, kF32, {a}); }
  Term Make(Op op, Term a, Term b) {
    return terms_.Apply(op, kF32, kF32, {a, b});
  }
  Term If(Op op, Term a, Term b, Term then, Term otherwise) {
    const Term condition = terms_.Apply(op, DType::kBool, kF32, {a, b});
    return terms_.Apply(Op::kSelect, kF32, kF32, {condition, then, otherwise});
  }
  bool Same(Term a, Term b) { return canonical_.Of(a) == canonical_.Of(b); }

  Terms terms_;
  CanonicalTerms canonical_{&terms_};
  const Term x_ = In(0), y_ = In(1), z_ = In(2);
};

TEST_F(CanonicalTermsTest, EqualTermsHaveOneNumber) {
  EXPECT_EQ(Make(Op::kAdd, x_, y_), Make(Op::kAdd, y_, x_));
  EXPECT_NE(Make(Op::kSub, x_, y_), Make(Op::kSub, y_, x_));
  EXPECT_EQ(Make(Op::kMul, Number(2), Number(3)), Number(6));
  EXPECT_NE(terms_.Undefined(kF32), terms_.Undefined(kF32));
  EXPECT_NE(Number(0), Number(-0.0));
  EXPECT_EQ(Number(NAN), Number(-NAN));
}

TEST_F(CanonicalTermsTest, SumsAreTheSameInAnyOrder) {
  const Term one = terms_.Fma(kF32, x_, y_, terms_.Fma(kF32, y_, z_, z_));
  const Term other = Make(Op::kAdd, Make(Op::kAdd, Make(Op::kMul, y_, x_), z_),
                          terms_.Fma(kF32, z_, y_, Number(0)));
  EXPECT_NE(one, other);
  EXPECT_TRUE(Same(one, other));
  EXPECT_FALSE(Same(one, Make(Op::kAdd, other, z_)));
  EXPECT_FALSE(
      Same(one, terms_.Fma(kF32, x_, z_, terms_.Fma(kF32, y_, z_, z_))));
}

// Weights are finite, exponentials may overflow.
TEST_F(CanonicalTermsTest, InputsTimesZeroAreNothing) {
  EXPECT_TRUE(Same(terms_.Fma(kF32, Number(0), x_, z_),
                   terms_.Fma(kF32, Number(-0.0), y_, z_)));
  EXPECT_TRUE(Same(Make(Op::kMul, Number(0), x_), Number(0)));
  EXPECT_FALSE(Same(Make(Op::kMul, Number(0), Make(Op::kExp, x_)), Number(0)));
  EXPECT_FALSE(Same(Make(Op::kMul, Number(INFINITY), x_), Number(0)));
}

TEST_F(CanonicalTermsTest, MinusSignsMove) {
  const Term d = Make(Op::kSub, x_, y_), e = Make(Op::kSub, y_, x_);
  EXPECT_FALSE(Same(d, e));
  EXPECT_TRUE(Same(d, Make(Op::kNeg, e)));
  EXPECT_TRUE(Same(Make(Op::kMul, d, d), Make(Op::kMul, e, e)));
  EXPECT_FALSE(Same(Make(Op::kMul, d, d), Make(Op::kMul, d, e)));
}

TEST_F(CanonicalTermsTest, ExtremesAreTheSameInAnyOrder) {
  const Term one = Make(Op::kMax, x_, Make(Op::kMax, y_, x_));
  EXPECT_TRUE(
      Same(one, Make(Op::kMax, Make(Op::kMax, Number(-INFINITY), y_), x_)));
  EXPECT_FALSE(Same(one, Make(Op::kMax, one, z_)));
  EXPECT_FALSE(Same(one, Make(Op::kMin, x_, y_)));
  EXPECT_TRUE(Same(If(Op::kLt, x_, y_, y_, x_), If(Op::kLe, x_, y_, y_, x_)));
  EXPECT_FALSE(Same(If(Op::kLt, x_, y_, z_, x_), If(Op::kLe, x_, y_, z_, x_)));
}

TEST_F(CanonicalTermsTest, ComparisonsOfTheSameValuesAreOne) {
  const auto compare = [&](Op op, Term a, Term b) {
    return terms_.Apply(op, DType::kBool, kF32, {a, b});
  };
  const auto either = [&](Term a, Term b) {
    return terms_.Apply(Op::kOr, DType::kBool, DType::kBool, {a, b});
  };
  EXPECT_TRUE(Same(either(compare(Op::kGt, x_, y_), compare(Op::kEq, x_, y_)),
                   compare(Op::kLe, y_, x_)));
  // Everything is a NaN, or no less than the lowest.
  const Term nan = terms_.Apply(Op::kIsNan, DType::kBool, kF32, {x_});
  const Term yes = terms_.Const(DType::kBool, {0, 1});
  EXPECT_TRUE(Same(either(nan, compare(Op::kGe, x_, Number(-INFINITY))), yes));
  EXPECT_FALSE(Same(either(nan, compare(Op::kGt, x_, Number(-INFINITY))), yes));
  EXPECT_TRUE(Same(either(compare(Op::kGe, x_, Number(-INFINITY)),
                          compare(Op::kEq, x_, Number(-INFINITY))),
                   either(compare(Op::kGt, x_, Number(-INFINITY)),
                          compare(Op::kEq, x_, Number(-INFINITY)))));
  EXPECT_FALSE(Same(
      either(compare(Op::kGe, x_, Number(-INFINITY)), compare(Op::kNe, x_, y_)),
      compare(Op::kGe, x_, Number(-INFINITY))));
  EXPECT_FALSE(Same(either(nan, compare(Op::kGe, y_, Number(-INFINITY))), yes));
  EXPECT_FALSE(Same(either(nan, compare(Op::kGe, x_, Number(0))), yes));
  // Neither is true of NaN.
  EXPECT_FALSE(Same(either(compare(Op::kGt, x_, y_), compare(Op::kLt, x_, y_)),
                    compare(Op::kNe, x_, y_)));
}

TEST_F(CanonicalTermsTest, IntegersAreWhatSelectsLeaveThem) {
  const auto number = [&](int64_t i) {
    return terms_.Const(DType::kInt64, {0, i});
  };
  const Term condition = terms_.Apply(Op::kLt, DType::kBool, kF32, {x_, y_});
  const Term either = terms_.Apply(Op::kSelect, DType::kInt64, DType::kInt64,
                                   {condition, number(2), number(5)});
  const auto compare = [&](Op op, int64_t i) {
    return terms_.Apply(op, DType::kBool, DType::kInt64, {either, number(i)});
  };
  EXPECT_TRUE(Same(compare(Op::kLt, 3), compare(Op::kLe, 3)));
  EXPECT_FALSE(Same(compare(Op::kLt, 5), compare(Op::kLe, 5)));
  EXPECT_TRUE(Same(compare(Op::kLt, 6), terms_.Const(DType::kBool, {0, 1})));
}

// It overflows where the maximum would not.
TEST_F(CanonicalTermsTest, AnotherShiftOfASoftmaxIsAnotherTerm) {
  const auto softmax = [&](Term shift) {
    const Term a = Make(Op::kExp, Make(Op::kSub, x_, shift)),
               b = Make(Op::kExp, Make(Op::kSub, y_, shift));
    return Make(Op::kDiv, a, Make(Op::kAdd, a, b));
  };
  EXPECT_FALSE(Same(softmax(x_), softmax(y_)));
}

}  // namespace
}  // namespace tilewright::measure

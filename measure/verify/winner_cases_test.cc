#include "measure/testing/winner_cases.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "measure/testing/symbolic_terms.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::measure {
namespace {

constexpr DType kF32 = DType::kFloat32, kI64 = DType::kInt64,
                kBool = DType::kBool;

struct Pick {
  Term value, index;
};

class WinnerCasesTest : public testing::Test {
 protected:
  Term Index(int64_t i) {
    return terms_.Const(kI64, {static_cast<double>(i), i});
  }
  Term Compare(Op op, Term a, Term b) {
    return terms_.Apply(op, kBool, terms_.dtype(a), {a, b});
  }
  Term Both(Term a, Term b) {
    return terms_.Apply(Op::kAnd, kBool, kBool, {a, b});
  }
  Term Either(Term a, Term b) {
    return terms_.Apply(Op::kOr, kBool, kBool, {a, b});
  }
  Term IsNan(Term a) { return terms_.Apply(Op::kIsNan, kBool, kF32, {a}); }
  Term If(Term condition, Term then, Term otherwise) {
    const DType dtype = terms_.dtype(then);
    return terms_.Apply(Op::kSelect, dtype, dtype,
                        {condition, then, otherwise});
  }

  // The better of two, as argmax has it; `beats`: of values.
  Pick Better(Pick a, Pick b, Op beats = Op::kGt) {
    const Term sooner = Compare(Op::kLt, b.index, a.index),
               nan = IsNan(b.value),
               wins = Either(
                   nan,
                   Either(Compare(beats, b.value, a.value),
                          Both(Compare(Op::kEq, a.value, b.value), sooner)));
    const Term taken = If(IsNan(a.value), Both(nan, sooner), wins);
    return {If(taken, b.value, a.value), If(taken, b.index, a.index)};
  }
  Pick In(int64_t i) { return {terms_.Input(kF32, 0, i), Index(i)}; }
  Pick Start() {
    return {terms_.Const(kF32, {-INFINITY, 0}),
            terms_.Const(kI64, {0, INT64_MAX})};
  }
  // Every `stride`-th of eight.
  Pick Chain(int64_t first, int64_t stride) {
    Pick best = Start();
    for (int64_t i = first; i < 8; i += stride) best = Better(best, In(i));
    return best;
  }
  bool Same(Pick a, Pick b) {
    return SameWhicheverWins(terms_, a.index, b.index);
  }

  Terms terms_;
};

TEST_F(WinnerCasesTest, AnArgMaxIsTheSameInAnyOrderOfItsSteps) {
  const Pick chain = Chain(0, 1);
  EXPECT_TRUE(Same(chain, chain));
  EXPECT_TRUE(Same(chain, Better(Chain(0, 2), Chain(1, 2))));
  EXPECT_TRUE(Same(chain, Better(Chain(1, 2), Chain(0, 2))));
  EXPECT_TRUE(Same(chain, Better(chain, In(7))));
  EXPECT_TRUE(Same(chain, Better(chain, chain)));
}

// The value may come from the last of equal steps, if the index does not.
TEST_F(WinnerCasesTest, EitherOfEqualValuesWillDo) {
  Pick best = Start();
  for (int64_t i = 0; i < 8; ++i)
    best = {Better(best, In(i), Op::kGe).value, Better(best, In(i)).index};
  EXPECT_TRUE(Same(Chain(0, 1), best));
}

TEST_F(WinnerCasesTest, AnotherWinnerIsSeen) {
  const Pick chain = Chain(0, 1);
  EXPECT_FALSE(Same(chain, Chain(1, 1)));
  EXPECT_FALSE(Same(chain, Better(Chain(0, 2), Chain(1, 4))));
  // The last of equal values, and what is not the first NaN.
  EXPECT_FALSE(Same(chain, Better(Chain(0, 2), Chain(1, 2), Op::kGe)));
  Pick swapped = Better(Chain(0, 2), Chain(1, 2));
  swapped.index = If(IsNan(In(6).value), Index(6), swapped.index);
  EXPECT_FALSE(Same(chain, swapped));
  // The index of no step wins where all are -infinity.
  Pick started = Start();
  started.index = terms_.Undefined(kI64);
  for (int64_t i = 0; i < 8; ++i) started = Better(started, In(i));
  EXPECT_FALSE(Same(chain, started));
}

TEST_F(WinnerCasesTest, TheSmallestMayWinToo) {
  const auto smaller = [&](Pick a, Pick b) { return Better(a, b, Op::kLt); };
  EXPECT_TRUE(Same(smaller(smaller(In(0), In(1)), In(2)),
                   smaller(In(0), smaller(In(1), In(2)))));
  EXPECT_FALSE(Same(smaller(smaller(In(0), In(1)), In(2)),
                    Better(Better(In(0), In(1)), In(2))));
}

}  // namespace
}  // namespace tilewright::measure

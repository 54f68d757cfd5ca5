#include "tilegraph/expr/simplify.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tilegraph/expr/index_eval.h"

namespace tilewright {
namespace {

// Names of variables: a, b, ... with ids 0, 1, ...
Expr V(int id) {
  return Expr::Var(id, std::string(1, static_cast<char>('a' + id)));
}
Expr I(int64_t value) { return Expr::Int(value); }
Expr B(Op op, Expr a, Expr b) { return Expr::Make(op, {a, b}); }
Expr Add(Expr a, Expr b) { return B(Op::kAdd, a, b); }
Expr Mul(Expr a, int64_t c) { return B(Op::kMul, a, I(c)); }
Expr Div(Expr a, int64_t c) { return B(Op::kFloorDiv, a, I(c)); }
Expr Mod(Expr a, int64_t c) { return B(Op::kFloorMod, a, I(c)); }
Expr Lt(Expr a, Expr b) { return B(Op::kLt, a, b); }
const Expr kTrue = Expr::Int(1, DType::kBool),
           kFalse = Expr::Int(0, DType::kBool);

RangeOf Extents(std::vector<int64_t> extents) {
  return [extents](int id) -> std::optional<Range> {
    if (id >= static_cast<int>(extents.size()) || extents[id] < 0)
      return std::nullopt;
    return Range{0, extents[id] - 1};
  };
}

struct Case {
  std::string claim;
  std::vector<int64_t> extents;  // of a, b, ...; -1: unknown
  Expr from, to;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.from.ToString(); }

class SimplifyTable : public testing::TestWithParam<Case> {};

TEST_P(SimplifyTable, GivesTheExpectedTree) {
  const Case& c = GetParam();
  RangeOf ranges = Extents(c.extents);
  Expr got = Simplify(c.from, ranges), want = Simplify(c.to, ranges);
  EXPECT_EQ(got, want) << got.ToString() << " instead of " << want.ToString();
  // The expected side is written as simple as it can be: simplifying must not
  // hide that nothing happened.
  EXPECT_EQ(want.ToString(), c.to.ToString());
}

std::vector<Case> Cases() {
  Expr a = V(0), b = V(1), c = V(2), d = V(3);
  return {
      {"BlockIndexOfSplitAxis", {-1, 16}, Div(Add(Mul(a, 16), b), 16), a},
      {"LaneOfSplitAxis", {-1, 16}, Mod(Add(Mul(a, 16), b), 16), b},
      {"BlockIndexOfHalfLanes", {-1, 8}, Div(Add(Mul(a, 8), b), 16), Div(a, 2)},
      {"LaneOfHalfLanes",
       {-1, 8},
       Mod(Add(Mul(a, 8), b), 16),
       Add(b, Mul(Mod(a, 2), 8))},
      {"DigitBelowTheTile", {8, 8}, Mod(Add(Mul(a, 8), b), 4), Mod(b, 4)},
      {"QuotientBelowTheTile",
       {8, 8},
       Div(Add(Mul(a, 8), b), 4),
       Add(Mul(a, 2), Div(b, 4))},
      {"ShiftedLane",
       {4, 8},
       Div(Add(Add(Mul(a, 16), b), I(28)), 16),
       Add(Add(a, Div(Add(b, I(12)), 16)), I(1))},
      {"ShiftedLaneInOneBucket",
       {4, 8},
       Div(Add(Add(Mul(a, 16), b), I(20)), 16),
       Add(a, I(1))},
      {"DivOfDiv", {-1}, Div(Div(a, 3), 5), Div(a, 15)},
      {"DivOfShiftedDiv",
       {-1},
       Div(Add(Div(a, 3), I(2)), 5),
       Div(Add(a, I(6)), 15)},
      {"ModOfMod", {-1}, Mod(Mod(a, 12), 4), Mod(a, 4)},
      {"DivOfMod", {-1}, Div(Mod(a, 12), 4), Mod(Div(a, 4), 3)},
      {"ModOfSumWithMod",
       {-1, -1},
       Mod(Add(Mod(a, 12), b), 4),
       Mod(Add(a, b), 4)},
      {"FusedAxisIsJoined", {-1}, Add(Mul(Div(a, 7), 7), Mod(a, 7)), a},
      {"ThreeDigitsAreJoined",
       {60},
       Add(Add(Mul(Div(a, 20), 20), Mul(Mod(Div(a, 5), 4), 5)), Mod(a, 5)),
       a},
      {"TwoLowDigitsAreJoined",
       {-1},
       Add(Mul(Mod(Div(a, 5), 4), 5), Mod(a, 5)),
       Mod(a, 20)},
      {"DivOfSumWithDiv",
       {-1, -1},
       Div(Add(Div(a, 3), Mul(b, 2)), 5),
       Div(Add(a, Mul(b, 6)), 15)},
      {"DigitsThatTilesCrossAreJoined",
       {24, 64},
       Add(Mul(Mod(Div(Add(Mul(a, 64), b), 28), 28), 28),
           Mod(Add(Mul(a, 64), b), 28)),
       Mod(Add(Mul(a, 64), b), 784)},
      {"DigitsOfThreeLevels",
       {3, 4, 5},
       Mod(Div(Add(Mul(a, 20), Add(Mul(b, 5), c)), 5), 4),
       b},
      {"ScaledDiv", {-1}, Div(Mul(a, 6), 4), Add(a, Div(a, 2))},
      {"ModDroppedByRange", {10}, Mod(Add(a, I(3)), 13), Add(a, I(3))},
      {"NegativeStaysFloor", {4}, Div(Add(a, I(-4)), 4), I(-1)},
      {"TermsCancel", {-1, -1}, B(Op::kSub, Add(a, b), a), b},
      {"DivByZeroIsZero", {-1}, Div(a, 0), I(0)},
      {"PointRangeIsAConstant", {1, -1}, Add(a, b), b},
      {"TruncatingDivOfNonNegative",
       {9, 16},
       B(Op::kDiv, Add(Mul(a, 16), b), I(16)),
       a},
      {"ConditionAlwaysTrue", {8, 8}, Lt(Add(Mul(a, 8), b), I(64)), kTrue},
      {"ConditionAlwaysFalse", {8, 8}, Lt(Add(Mul(a, 8), b), I(0)), kFalse},
      {"LowDigitCannotDecide",
       {8, 8},
       Lt(Add(Mul(a, 8), b), I(40)),
       Lt(a, I(5))},
      {"LowDigitStays",
       {8, 8},
       Lt(Add(Mul(a, 8), b), I(41)),
       Lt(Add(Mul(a, 8), b), I(41))},
      {"CommonFactor", {-1}, Lt(Mul(a, 8), I(60)), Lt(a, I(8))},
      {"NegatedVariable",
       {-1},
       Lt(B(Op::kSub, I(5), a), I(3)),
       B(Op::kGe, a, I(3))},
      {"OddIsNeverEven",
       {-1, -1},
       B(Op::kEq, Add(Mul(a, 2), I(1)), Mul(b, 2)),
       kFalse},
      {"DifferenceDecides", {-1}, Lt(a, Add(a, I(1))), kTrue},
      {"MinDecided",
       {8, 8},
       B(Op::kMin, Add(Mul(a, 8), b), I(63)),
       Add(Mul(a, 8), b)},
      {"MaxDecided", {8}, B(Op::kMax, B(Op::kSub, a, I(9)), I(0)), I(0)},
      {"MinOfShifted", {-1}, B(Op::kMin, a, Add(a, I(2))), a},
      {"NestedMinConstants",
       {-1},
       B(Op::kMin, B(Op::kMin, a, I(9)), I(4)),
       B(Op::kMin, a, I(4))},
      {"SelectDecided",
       {8, -1, -1},
       Expr::Make(Op::kSelect, {Lt(a, I(8)), b, c}),
       b},
      {"SelectOfEqual",
       {8, -1},
       Expr::Make(Op::kSelect, {Lt(a, I(4)), Add(b, I(0)), b}),
       b},
      {"AndDropsTrue",
       {8, 8},
       B(Op::kAnd, Lt(a, I(8)), Lt(b, I(3))),
       Lt(b, I(3))},
      {"AndFalse", {8, 8}, B(Op::kAnd, Lt(b, I(3)), Lt(a, I(0))), kFalse},
      {"OrDropsDuplicates",
       {8, 8},
       B(Op::kOr, Lt(a, I(3)), B(Op::kOr, Lt(b, I(2)), Lt(a, I(3)))),
       B(Op::kOr, Lt(a, I(3)), Lt(b, I(2)))},
      {"NotTurnsTheComparison",
       {8},
       Expr::Make(Op::kNot, {Lt(a, I(3))}),
       B(Op::kGe, a, I(3))},
      {"NotNot",
       {8},
       Expr::Make(Op::kNot, {Expr::Make(Op::kNot, {Lt(a, I(3))})}),
       Lt(a, I(3))},
      {"InsideLoads",
       {-1, 16},
       Expr::Load(7, DType::kFloat32, {Div(Add(Mul(a, 16), b), 16), I(0)}),
       Expr::Load(7, DType::kFloat32, {a, I(0)})},
      {"FloatCastOfSameDType",
       {-1},
       Expr::Cast(DType::kFloat32, Expr::Load(7, DType::kFloat32, {a})),
       Expr::Load(7, DType::kFloat32, {a})},
      {"FloatPlusZeroStays",
       {-1},
       Add(Expr::Load(7, DType::kFloat32, {a}), Expr::Float(0)),
       Add(Expr::Load(7, DType::kFloat32, {a}), Expr::Float(0))},
      {"DataIsNotAssumedSmall",
       {-1},
       Div(Mul(Expr::Load(7, DType::kInt64, {a}), 16), 16),
       Div(Mul(Expr::Load(7, DType::kInt64, {a}), 16), 16)},
      {"ClampedDataIsBounded",
       {-1},
       Lt(B(Op::kMin, B(Op::kMax, Expr::Load(7, DType::kInt64, {a}), I(0)),
            I(5)),
          I(6)),
       kTrue},
  };
}

INSTANTIATE_TEST_SUITE_P(Cases, SimplifyTable, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.claim; });

TEST(ToLinear, HasSortedDistinctTermsAndNoZeroCoefficients) {
  Expr e =
      Add(Mul(V(2), 3), Add(B(Op::kSub, V(0), V(0)), Add(V(1), Mul(V(2), 4))));
  LinearForm form = ToLinear(Add(e, I(5)), Extents({}));
  ASSERT_EQ(form.terms.size(), 2u);
  EXPECT_EQ(form.CoefficientOf(1), 1);
  EXPECT_EQ(form.CoefficientOf(2), 7);
  EXPECT_EQ(form.CoefficientOf(0), 0);
  EXPECT_EQ(form.constant, 5);
}

TEST(RangeOfExpr, IsUnknownForAnUnboundedVariableAndForData) {
  EXPECT_FALSE(RangeOfExpr(V(0), Extents({-1})).has_value());
  EXPECT_FALSE(
      RangeOfExpr(Expr::Load(0, DType::kInt64, {V(1)}), Extents({-1, 4}))
          .has_value());
  auto range = RangeOfExpr(Mod(V(0), 7), Extents({-1}));
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->min, 0);
  EXPECT_EQ(range->max, 6);
}

TEST(RangeOfExpr, OverflowIsUnknown) {
  RangeOf huge = [](int) { return Range{0, int64_t{1} << 62}; };
  EXPECT_FALSE(RangeOfExpr(Mul(V(0), 4), huge).has_value());
  EXPECT_NE(Simplify(Lt(Mul(V(0), 4), I(0)), huge), kFalse);
}

// Random trees over small variables, checked at every assignment.
class RandomTrees {
 public:
  explicit RandomTrees(uint64_t seed) : random_(seed) {}

  Expr Index(int depth, int vars) {
    if (depth == 0 || Draw(8) == 0)
      return Draw(4) == 0 ? I(Draw(21) - 8) : V(Draw(vars));
    static constexpr int64_t kRadices[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32};
    Expr a = Index(depth - 1, vars);
    switch (Draw(14)) {
      case 0:
      case 1:
      case 2:
        return Add(a, Index(depth - 1, vars));
      case 3:
        return B(Op::kSub, a, Index(depth - 1, vars));
      case 4:
      case 5:
        return Mul(a, kRadices[Draw(11)]);
      case 6:
      case 7:
        return Div(a, kRadices[Draw(11)]);
      case 8:
      case 9:
        return Mod(a, kRadices[Draw(11)]);
      case 10:
        return B(Draw(2) ? Op::kMin : Op::kMax, a, Index(depth - 1, vars));
      case 11:
        return Expr::Make(Op::kSelect, {Condition(depth - 1, vars), a,
                                        Index(depth - 1, vars)});
      case 12:
        return Draw(2) ? Expr::Make(Op::kNeg, {a})
                       : B(Op::kDiv, a, I(kRadices[Draw(11)]));
      default:
        return Draw(2) ? Expr::Make(Op::kAbs, {a})
                       : B(Op::kMul, a, Index(depth - 1, vars));
    }
  }

  Expr Condition(int depth, int vars) {
    static constexpr Op kOps[] = {Op::kEq, Op::kNe, Op::kLt,
                                  Op::kLe, Op::kGt, Op::kGe};
    if (depth > 0 && Draw(4) == 0) {
      Expr a = Condition(depth - 1, vars);
      if (Draw(3) == 0) return Expr::Make(Op::kNot, {a});
      return B(Draw(2) ? Op::kAnd : Op::kOr, a, Condition(depth - 1, vars));
    }
    return B(kOps[Draw(6)], Index(depth, vars),
             Draw(2) ? I(Draw(80) - 10) : Index(depth / 2, vars));
  }

  int64_t Draw(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }

 private:
  std::mt19937_64 random_;
};

TEST(SimplifyRandom, EqualsTheOriginalAtEveryAssignmentAndStaysInItsRange) {
  RandomTrees trees(20240607);
  for (int i = 0; i < 20000; ++i) {
    const int vars = 1 + trees.Draw(3);
    std::vector<int64_t> low, high;
    for (int v = 0; v < vars; ++v) {
      low.push_back(trees.Draw(3) == 0 ? trees.Draw(9) - 4 : 0);
      high.push_back(low.back() + trees.Draw(vars == 3 ? 6 : 18));
    }
    RangeOf ranges = [&](int id) { return Range{low[id], high[id]}; };
    const bool index = trees.Draw(3) != 0;
    Expr original = index ? trees.Index(4, vars) : trees.Condition(3, vars);
    Expr simple = Simplify(original, ranges);
    Expr again = Simplify(simple, ranges);
    std::optional<Range> range =
        index ? RangeOfExpr(original, ranges) : std::nullopt;
    std::vector<int64_t> at = low;
    for (bool more = true; more;) {
      int64_t want = EvalIndex(original, at);
      ASSERT_EQ(EvalIndex(simple, at), want)
          << "case " << i << ": " << original.ToString() << " became "
          << simple.ToString();
      ASSERT_EQ(EvalIndex(again, at), want)
          << "case " << i << ": " << original.ToString() << " became "
          << again.ToString();
      if (range) {
        ASSERT_LE(range->min, want) << original.ToString();
        ASSERT_GE(range->max, want) << original.ToString();
      }
      more = false;
      for (int v = 0; v < vars && !more; ++v) {
        more = ++at[v] <= high[v];
        if (!more) at[v] = low[v];
      }
    }
  }
}

// Indices that splitting and fusing loops produce must come out as the plain
// digit again: no tree may stay larger than its meaning.
TEST(SimplifyRandom, RecoversTheDigitsOfNestedSplits) {
  RandomTrees trees(7);
  for (int i = 0; i < 2000; ++i) {
    int64_t extent[4];
    std::vector<int64_t> ranges;
    for (int64_t& e : extent) ranges.push_back(e = 1 + trees.Draw(9));
    Expr fused = I(0);
    int64_t size = 1;
    for (int d = 0; d < 4; ++d) {
      fused = Add(Mul(fused, extent[d]), V(d));
      size *= extent[d];
    }
    int64_t below = size;
    for (int d = 0; d < 4; ++d) {
      below /= extent[d];
      Expr digit = Simplify(Mod(Div(fused, below), extent[d]), Extents(ranges));
      Expr want = extent[d] == 1 ? I(0) : V(d);
      ASSERT_EQ(digit, want) << digit.ToString();
    }
  }
}

// The address of an element by its digits, where axes are fused and the whole
// is split anew, whatever tiles cross.
TEST(SimplifyRandom, AddressesInFusedAxesAreLinear) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> extents;
    for (int axis = 0; axis < 4; ++axis)
      extents.push_back(static_cast<int64_t>(random() % 40 + 1));
    const int64_t tile = static_cast<int64_t>(random() % 128 + 2);
    int64_t elements = 1;
    for (const int64_t extent : extents) elements *= extent;
    const Expr fused = Add(Mul(V(0), tile), V(1));
    Expr address = I(0);
    int64_t stride = elements;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      stride /= extents[axis];
      const Expr digit = Div(fused, stride);
      address = Add(address,
                    Mul(axis == 0 ? digit : Mod(digit, extents[axis]), stride));
    }
    const RangeOf ranges = Extents({elements / tile + 1, tile});
    EXPECT_EQ(Simplify(address, ranges), Simplify(fused, ranges))
        << Simplify(address, ranges).ToString();
  }
}

TEST(Simplify, TakesLinearTimeOnSharedSubtrees) {
  Expr e = V(0);
  for (int i = 0; i < 60; ++i)
    e = B(Op::kMax, Add(e, V(1)), Add(e, V(2)));  // 2^60 paths
  EXPECT_TRUE(Simplify(e, Extents({4, 4, 4})));
}

}  // namespace
}  // namespace tilewright

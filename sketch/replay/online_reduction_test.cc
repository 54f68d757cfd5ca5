#include "sketch/replay/online_reduction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/normal_exp.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::sketch {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const Combiner kMax(Combiner::Kind::kMax, DType::kFloat32);
const Combiner kSum(Combiner::Kind::kSum, DType::kFloat32);

// Buffers of these tests: one element each.
enum : int { kX, kA, kB, kC };

Expr Load(int buffer) { return Expr::Load(buffer, DType::kFloat32, {}); }
Expr Make(Op op, Expr a, Expr b) {
  return Expr::Make(op, {std::move(a), std::move(b)});
}
Expr Exp(Expr e) { return Expr::Make(Op::kExp, {std::move(e)}); }

// exp(x - A), or where the difference is below `bound` exp(`instead`).
Expr ExpFrom(double bound, double instead) {
  const Expr difference = Make(Op::kSub, Load(kX), Load(kA));
  return Exp(
      Expr::Make(Op::kSelect, {Make(Op::kLt, difference, Expr::Float(bound)),
                               Expr::Float(instead), difference}));
}

double Evaluate(const Expr& e, const std::map<int, double>& values) {
  if (e.op() == Op::kConst)
    return IsFloat(e.dtype()) ? e.float_value()
                              : static_cast<double>(e.int_value());
  if (e.op() == Op::kLoad) return values.at(e.source());
  if (e.op() == Op::kVar) return values.at(100 + e.var_id());
  std::vector<Scalar> operands;
  for (const Expr& operand : e.operands()) {
    const double value = Evaluate(operand, values);
    const bool fits = std::abs(value) < 0x1p63;
    operands.push_back({value, static_cast<int64_t>(fits ? value : 0)});
  }
  const DType from = e.operand(e.op() == Op::kSelect ? 1 : 0).dtype();
  const Scalar result =
      EvaluateOp(e.op(), e.dtype(), from, operands, /*single=*/false);
  return IsFloat(e.dtype()) ? result.f : static_cast<double>(result.i);
}

constexpr int64_t kSteps = 48;

const RescalingRule* RuleFor(const Expr& step, const Combiner& a = kMax,
                             const Combiner& b = kSum) {
  return FindRescaling(a, b, step, kA, kSteps,
                       [](const Expr& x, const Expr& load) {
                         return x == Load(kX) && load == Load(kA);
                       });
}

Progress ProgressOf(double before, double now, double steps_before = 0,
                    double steps_now = 0) {
  const auto number = [](double value) {
    return Expr::Float(value, DType::kFloat64);
  };
  return {number(before), number(now), number(steps_before), number(steps_now),
          kSteps};
}

TEST(OnlineReductionTest, ExpOfDifference) {
  const Expr plain = Exp(Make(Op::kSub, Load(kX), Load(kA)));
  const Expr without_denormals = NormalExp(Make(Op::kSub, Load(kX), Load(kA)));
  for (const Expr& step :
       {plain, without_denormals, Make(Op::kMul, plain, Load(kB)),
        Make(Op::kMul, Make(Op::kMul, Load(kB), Load(kC)), plain),
        Make(Op::kDiv, Make(Op::kMul, Load(kB), plain), Load(kC))}) {
    const RescalingRule* rule = RuleFor(step);
    ASSERT_NE(rule, nullptr) << step.ToString();
    Random random(7);
    const auto draw = [&] {
      return static_cast<double>(random.UniformInt(-400, 400)) / 16;
    };
    for (int i = 0; i < 200; ++i) {
      const double before = draw(), now = std::max(before, draw());
      std::map<int, double> at = {
          {kX, std::min(before, draw())}, {kB, draw()}, {kC, draw() + 100}};
      at[kA] = now;
      const double want = Evaluate(step, at);
      at[kA] = before;
      const double factor =
          Evaluate(rule->correction(ProgressOf(before, now)), {});
      EXPECT_NEAR(factor * Evaluate(step, at), want, 1e-12 * std::abs(want));
    }
  }
}

TEST(OnlineReductionTest, WhereNothingHasBeenSeen) {
  const RescalingRule* rule = RuleFor(Exp(Make(Op::kSub, Load(kX), Load(kA))));
  ASSERT_NE(rule, nullptr);
  const auto factor = [&](double before, double now) {
    return Evaluate(rule->correction(ProgressOf(before, now)), {});
  };
  EXPECT_EQ(factor(-kInf, 3), 0);
  EXPECT_EQ(factor(-kInf, -kInf), 0);
  EXPECT_EQ(factor(3, 3), 1);
  EXPECT_EQ(factor(3, kInf), 0);
  EXPECT_TRUE(std::isnan(factor(3, std::nan(""))));
  EXPECT_TRUE(std::isnan(factor(std::nan(""), std::nan(""))));
  const auto reference = [&](double now) {
    return Evaluate(rule->reference(ProgressOf(0, now)), {});
  };
  EXPECT_EQ(reference(-kInf), 0);
  EXPECT_EQ(reference(-2), -2);
  const auto settled = [&](double result, double sums) {
    return Evaluate(rule->settled(Expr::Float(result), Expr::Float(sums)), {});
  };
  EXPECT_TRUE(std::isnan(settled(-kInf, 0)));  // as exp(-inf - -inf)
  EXPECT_EQ(settled(2, 5), 5);
}

TEST(OnlineReductionTest, NoRuleNoRescaling) {
  const Expr difference = Make(Op::kSub, Load(kX), Load(kA));
  for (const Expr& step :
       {Make(Op::kMul, Exp(difference), Exp(difference)),
        Make(Op::kMul, Exp(difference), Load(kA)),
        Make(Op::kAdd, Exp(difference), Load(kB)),
        Make(Op::kDiv, Load(kB), Exp(difference)),
        Exp(Make(Op::kSub, Load(kA), Load(kX))),
        Exp(Make(Op::kSub, Load(kB), Load(kA))),
        Exp(Make(Op::kMul, difference, Load(kB))), ExpFrom(-20, -kInf),
        ExpFrom(-87, -90), difference, Load(kA)})
    EXPECT_EQ(RuleFor(step), nullptr) << step.ToString();
  EXPECT_EQ(
      RuleFor(Exp(difference), Combiner(Combiner::Kind::kMin, DType::kFloat32)),
      nullptr);
  EXPECT_EQ(RuleFor(Exp(difference), kMax, kMax), nullptr);
}

const Expr kMean = Make(Op::kDiv, Load(kA), Expr::Float(kSteps));

Expr Square(const Expr& e) { return Make(Op::kMul, e, e); }

// Computes B as it follows A over `x` in blocks of `block`, in float64.
double FollowedSquares(const std::vector<double>& x, size_t block) {
  const Expr step = Square(Make(Op::kSub, Load(kX), kMean));
  const RescalingRule* rule = RuleFor(step, kSum);
  EXPECT_NE(rule, nullptr);
  if (rule == nullptr) return 0;
  EXPECT_EQ(rule->applied, Op::kAdd);
  EXPECT_TRUE(rule->counts);
  double sum = 0, squares = 0;
  for (size_t from = 0; from < x.size(); from += block) {
    const size_t to = std::min(from + block, x.size());
    const double before = sum;
    for (size_t i = from; i < to; ++i) sum += x[i];
    const Progress progress = ProgressOf(before, sum, static_cast<double>(from),
                                         static_cast<double>(to));
    squares += Evaluate(rule->correction(progress), {});
    const double reference = Evaluate(rule->reference(progress), {});
    for (size_t i = from; i < to; ++i)
      squares += Evaluate(step, {{kX, x[i]}, {kA, reference}});
  }
  return Evaluate(rule->settled(Expr::Float(sum, DType::kFloat64),
                                Expr::Float(squares, DType::kFloat64)),
                  {});
}

double Squares(const std::vector<double>& x) {
  double mean = 0, squares = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x) squares += (value - mean) * (value - mean);
  return squares;
}

TEST(OnlineReductionTest, SquareOfDifferenceFromTheMean) {
  Random random(11);
  for (int i = 0; i < 100; ++i) {
    std::vector<double> x(kSteps);
    const double offset = i % 3 == 0 ? 1e6 : 0, scale = i % 2 == 0 ? 1 : 1e-3;
    for (double& value : x) value = offset + scale * random.Normal();
    const double want = Squares(x);
    for (const size_t block : {1, 5, 16, 47, 48})
      EXPECT_NEAR(FollowedSquares(x, block), want,
                  (offset == 0 ? 1e-12 : 1e-5) * want)
          << "row " << i << ", blocks of " << block;
  }
}

TEST(OnlineReductionTest, SquaresOfHardRows) {
  const std::vector<double> row(kSteps, 3);
  for (const size_t block : {1, 16, 20}) {
    EXPECT_EQ(FollowedSquares(row, block), 0);  // all equal
    std::vector<double> one = row;
    one.front() = 3 + kSteps;
    EXPECT_NEAR(FollowedSquares(one, block), kSteps * (kSteps - 1.0), 1e-9);
    std::vector<double> large(kSteps, 1e160);  // whose squares overflow
    EXPECT_LT(FollowedSquares(large, block), kInf);
    for (const double odd : {kInf, -kInf, std::nan("")}) {
      for (const size_t at : {0, 17, 47}) {
        std::vector<double> x = row;
        x[at] = odd;
        EXPECT_TRUE(std::isnan(FollowedSquares(x, block)));
      }
    }
  }
}

TEST(OnlineReductionTest, SquaresOfWhatIsNoMean) {
  const Expr difference = Make(Op::kSub, Load(kX), kMean);
  for (const Expr& mean :
       {kMean, Make(Op::kMul, Load(kA), Expr::Float(1.0 / kSteps)),
        Make(Op::kMul, Expr::Float(1.0F / kSteps), Load(kA))}) {
    EXPECT_NE(RuleFor(Square(Make(Op::kSub, Load(kX), mean)), kSum), nullptr);
    EXPECT_NE(RuleFor(Square(Make(Op::kSub, mean, Load(kX))), kSum), nullptr);
  }
  for (const Expr& step :
       {Square(Make(Op::kSub, Load(kX), Load(kA))),
        Square(Make(Op::kSub, Load(kX),
                    Make(Op::kDiv, Load(kA), Expr::Float(kSteps - 1)))),
        Square(Make(Op::kSub, Load(kX),
                    Make(Op::kDiv, Expr::Float(kSteps), Load(kA)))),
        Square(Make(Op::kSub, Load(kB), kMean)), difference,
        Make(Op::kMul, Square(difference), Load(kB)),
        Square(Make(Op::kAdd, Load(kX), kMean)),
        Make(Op::kMul, difference, Make(Op::kSub, kMean, Load(kX)))})
    EXPECT_EQ(RuleFor(step, kSum), nullptr) << step.ToString();
  EXPECT_EQ(RuleFor(Square(difference), kMax), nullptr);
  EXPECT_EQ(RuleFor(Square(difference), kSum, kMax), nullptr);
}

TEST(OnlineReductionTest, FactorsThatStayComeOutOfTheSum) {
  // Axis 0 stays, axis 1 is reduced.
  const Expr stays =
      Make(Op::kMul, Expr::Cast(DType::kFloat32, Expr::Var(0, "i")), Load(kB));
  const Expr moves = Expr::Cast(DType::kFloat32, Expr::Var(1, "k"));
  const Expr sums = Load(kC);
  for (const Expr& body :
       {Make(Op::kMul, moves, stays), Make(Op::kMul, stays, moves),
        Make(Op::kDiv, moves, stays),
        Make(Op::kMul, Make(Op::kMul, moves, stays),
             Make(Op::kDiv, moves, stays)),
        Make(Op::kDiv, Make(Op::kMul, stays, moves), moves)}) {
    const auto factored = FactorOut(body, 1, sums);
    ASSERT_TRUE(factored) << body.ToString();
    double want = 0, sum = 0;
    std::map<int, double> at = {{kB, 3}, {100, 5}};
    for (int k = 1; k < 6; ++k) {
      at[101] = k;
      want += Evaluate(body, at);
      sum += Evaluate(factored->steps, at);
    }
    at[kC] = sum;
    EXPECT_NEAR(Evaluate(factored->whole, at), want, 1e-9 * std::abs(want));
    Visit(factored->steps, [](const Expr& e) {
      EXPECT_FALSE(e.op() == Op::kLoad && e.source() == kB);
    });
  }
  EXPECT_FALSE(FactorOut(moves, 1, sums));
  EXPECT_FALSE(FactorOut(Make(Op::kAdd, stays, moves), 1, sums));
  EXPECT_FALSE(
      FactorOut(Make(Op::kMul, Expr::Var(0, "i"), Expr::Var(1, "k")), 1, sums));
}

TEST(OnlineReductionTest, PatternsBindTheirVariables) {
  const auto x = [](int id) { return Expr::Var(id, "x"); };
  const auto at = [](std::vector<Expr> index) {
    return Expr::Load(kX, DType::kFloat32, std::move(index));
  };
  std::map<int, Expr> bound = {{0, x(4)}};
  EXPECT_TRUE(Matches(at({x(0), x(1) * Expr::Int(8) + x(2)}),
                      at({x(4), x(6) * Expr::Int(8) + x(7)}), bound));
  EXPECT_EQ(bound.at(1), x(6));
  bound = {{0, x(4)}};
  EXPECT_FALSE(Matches(at({x(0)}), at({x(5)}), bound));
  bound.clear();
  EXPECT_FALSE(Matches(at({x(0), x(0)}), at({x(1), x(2)}), bound));
  bound.clear();
  EXPECT_FALSE(
      Matches(at({x(0) * Expr::Int(8)}), at({x(0) * Expr::Int(4)}), bound));
}

}  // namespace
}  // namespace tilewright::sketch

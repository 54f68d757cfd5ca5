#include "sketch/rolling_repair.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/interpreter.h"

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

double Evaluate(const Expr& e, const std::map<int, double>& values) {
  if (e.op() == Op::kConst)
    return IsFloat(e.dtype()) ? e.float_value()
                              : static_cast<double>(e.int_value());
  if (e.op() == Op::kLoad) return values.at(e.source());
  if (e.op() == Op::kVar) return values.at(100 + e.var_id());
  std::vector<Scalar> operands;
  for (const Expr& operand : e.operands()) {
    const double value = Evaluate(operand, values);
    operands.push_back(
        {value, static_cast<int64_t>(std::isfinite(value) ? value : 0)});
  }
  const DType from = e.operand(e.op() == Op::kSelect ? 1 : 0).dtype();
  const Scalar result =
      EvaluateOp(e.op(), e.dtype(), from, operands, /*single=*/false);
  return IsFloat(e.dtype()) ? result.f : static_cast<double>(result.i);
}

const RepairRule* RuleFor(const Expr& step, const Combiner& a = kMax,
                          const Combiner& b = kSum) {
  return FindRepairRule(a, b, step, kA, [](const Expr& x, const Expr& load) {
    return x == Load(kX) && load == Load(kA);
  });
}

TEST(RollingRepairTest, ExpOfDifference) {
  const Expr plain = Exp(Make(Op::kSub, Load(kX), Load(kA)));
  for (const Expr& step :
       {plain, Make(Op::kMul, plain, Load(kB)),
        Make(Op::kMul, Make(Op::kMul, Load(kB), Load(kC)), plain),
        Make(Op::kDiv, Make(Op::kMul, Load(kB), plain), Load(kC))}) {
    const RepairRule* rule = RuleFor(step);
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
          Evaluate(rule->factor(Expr::Float(before), Expr::Float(now)), {});
      EXPECT_NEAR(factor * Evaluate(step, at), want, 1e-12 * std::abs(want));
    }
  }
}

TEST(RollingRepairTest, WhereNothingHasBeenSeen) {
  const RepairRule* rule = RuleFor(Exp(Make(Op::kSub, Load(kX), Load(kA))));
  ASSERT_NE(rule, nullptr);
  const auto factor = [&](double before, double now) {
    return Evaluate(rule->factor(Expr::Float(before), Expr::Float(now)), {});
  };
  EXPECT_EQ(factor(-kInf, 3), 0);
  EXPECT_EQ(factor(-kInf, -kInf), 0);
  EXPECT_EQ(factor(3, 3), 1);
  EXPECT_EQ(factor(3, kInf), 0);
  EXPECT_TRUE(std::isnan(factor(3, std::nan(""))));
  EXPECT_TRUE(std::isnan(factor(std::nan(""), std::nan(""))));
  const auto reference = [&](double now) {
    return Evaluate(rule->reference(Expr::Float(now)), {});
  };
  EXPECT_EQ(reference(-kInf), 0);
  EXPECT_EQ(reference(-2), -2);
  const auto settled = [&](double result, double sums) {
    return Evaluate(rule->settled(Expr::Float(result), Expr::Float(sums)), {});
  };
  EXPECT_TRUE(std::isnan(settled(-kInf, 0)));  // as exp(-inf - -inf)
  EXPECT_EQ(settled(2, 5), 5);
}

TEST(RollingRepairTest, NoRuleNoRepair) {
  const Expr difference = Make(Op::kSub, Load(kX), Load(kA));
  for (const Expr& step :
       {Make(Op::kMul, Exp(difference), Exp(difference)),
        Make(Op::kMul, Exp(difference), Load(kA)),
        Make(Op::kAdd, Exp(difference), Load(kB)),
        Make(Op::kDiv, Load(kB), Exp(difference)),
        Exp(Make(Op::kSub, Load(kA), Load(kX))),
        Exp(Make(Op::kSub, Load(kB), Load(kA))),
        Exp(Make(Op::kMul, difference, Load(kB))), difference, Load(kA)})
    EXPECT_EQ(RuleFor(step), nullptr) << step.ToString();
  EXPECT_EQ(
      RuleFor(Exp(difference), Combiner(Combiner::Kind::kMin, DType::kFloat32)),
      nullptr);
  EXPECT_EQ(RuleFor(Exp(difference), kMax, kMax), nullptr);
}

TEST(RollingRepairTest, FactorsThatStayComeOutOfTheSum) {
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

TEST(RollingRepairTest, PatternsBindTheirVariables) {
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

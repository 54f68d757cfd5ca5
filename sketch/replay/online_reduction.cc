#include "sketch/replay/online_reduction.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tilegraph/expr/normal_exp.h"

namespace tilewright::sketch {
namespace {

bool LoadsFrom(const Expr& expr, int buffer) {
  bool found = false;
  Visit(expr, [&](const Expr& e) {
    found |= e.op() == Op::kLoad && e.source() == buffer;
  });
  return found;
}

Expr IsLeast(const Expr& value) {
  return Expr::Make(
      Op::kEq, {value, Expr::Float(-std::numeric_limits<double>::infinity(),
                                   value.dtype())});
}

Expr Select(Expr condition, Expr a, Expr b) {
  return Expr::Make(Op::kSelect,
                    {std::move(condition), std::move(a), std::move(b)});
}

Expr Zero(const Expr& like) { return Expr::Float(0, like.dtype()); }

// f(x, A) = exp(x - A) · rest, A the greatest of x. Differences are at most 0,
// so nothing overflows. Where all x so far are -inf, steps use 0 instead of A:
// their terms are the zeros that they are for every later A, and what is NaN in
// the rest stays. Where all x are -inf, exp(x - A) is NaN.
constexpr RescalingRule kExpOfDifference = {
    "exp(x - max x)",
    Op::kMul,
    [](const Progress& a) {
      return Select(
          IsLeast(a.before), Zero(a.before),
          Expr::Make(Op::kExp, {Expr::Make(Op::kSub, {a.before, a.now})}));
    },
    [](const Progress& a) {
      return Select(IsLeast(a.now), Zero(a.now), a.now);
    },
    [](const Expr& result, const Expr& sums) {
      return Select(IsLeast(result), Expr::Make(Op::kSub, {result, result}),
                    sums);
    },
    /*counts=*/false};

Expr Div(Expr a, Expr b) {
  return Expr::Make(Op::kDiv, {std::move(a), std::move(b)});
}

Expr Mul(Expr a, Expr b) {
  return Expr::Make(Op::kMul, {std::move(a), std::move(b)});
}

// f(x, A) = (x - A / n)², A the sum of all n x. Steps use the mean so far. What
// is summed over n1 steps around their mean m1 is n1 · (m1 - m2)² more around
// m2: never negative, so nothing cancels.
constexpr RescalingRule kSquareOfDifference = {
    "(x - mean x)^2",
    Op::kAdd,
    [](const Progress& a) {
      const Expr one = Expr::Float(1, a.before.dtype());
      const Expr moved = Expr::Make(
          Op::kSub, {Div(a.before, Expr::Make(Op::kMax, {a.steps_before, one})),
                     Div(a.now, a.steps_now)});
      // Without steps before, `moved` may overflow.
      return Select(Expr::Make(Op::kLt, {a.steps_before, one}), Zero(a.before),
                    Mul(Mul(a.steps_before, moved), moved));
    },
    [](const Progress& a) {
      const Expr steps =
          Expr::Float(static_cast<double>(a.steps), a.now.dtype());
      return Mul(a.now, Div(steps, a.steps_now));
    },
    [](const Expr&, const Expr& sums) { return sums; },
    /*counts=*/true};

// Whether `step` is a product with one factor exp(x - A), x what A reduces.
// What a step leaves out of NormalExp is none beside a sum of at least 1, and
// less so for a later A.
bool IsExpOfDifference(
    const Expr& step, int a,
    const std::function<bool(const Expr& x, const Expr& load)>& reduces) {
  if (step.op() == Op::kMul) {
    const bool first = LoadsFrom(step.operand(0), a);
    return first != LoadsFrom(step.operand(1), a) &&
           IsExpOfDifference(step.operand(first ? 0 : 1), a, reduces);
  }
  if (step.op() == Op::kDiv)
    return !LoadsFrom(step.operand(1), a) &&
           IsExpOfDifference(step.operand(0), a, reduces);
  const Expr difference = ExponentOf(step);
  if (!difference || difference.op() != Op::kSub) return false;
  const Expr& x = difference.operand(0);
  const Expr& load = difference.operand(1);
  return load.op() == Op::kLoad && load.source() == a && !LoadsFrom(x, a) &&
         reduces(x, load);
}

// The load of `a` of which `expr` is the mean over `steps` values; else empty.
Expr SumOfMean(const Expr& expr, int a, int64_t steps) {
  if (expr.op() != Op::kDiv && expr.op() != Op::kMul) return Expr();
  for (const int of : {0, 1}) {
    const Expr &load = expr.operand(of), &by = expr.operand(1 - of);
    if (load.op() != Op::kLoad || load.source() != a || by.op() != Op::kConst ||
        (of == 1 && expr.op() == Op::kDiv))
      continue;
    const double count =
        expr.op() == Op::kDiv ? by.float_value() : 1 / by.float_value();
    // One over it is rounded.
    const double wanted = static_cast<double>(steps);
    if (std::abs(count - wanted) <= 1e-7 * wanted) return load;
  }
  return Expr();
}

// Whether `step` is the square of what x, that `a` sums, differs from its mean.
bool IsSquareOfDifference(
    const Expr& step, int a, int64_t steps,
    const std::function<bool(const Expr& x, const Expr& load)>& reduces) {
  if (step.op() != Op::kMul || step.operand(0) != step.operand(1) ||
      step.operand(0).op() != Op::kSub)
    return false;
  for (const int of : {0, 1}) {
    const Expr& x = step.operand(0).operand(of);
    const Expr load = SumOfMean(step.operand(0).operand(1 - of), a, steps);
    if (load && !LoadsFrom(x, a) && reduces(x, load)) return true;
  }
  return false;
}

}  // namespace

const RescalingRule* FindRescaling(
    const Combiner& a_combiner, const Combiner& b_combiner, const Expr& step,
    int a, int64_t steps,
    const std::function<bool(const Expr& x, const Expr& load)>& reduces) {
  const bool floats =
      IsFloat(a_combiner.component_dtype(0)) && IsFloat(step.dtype());
  if (!floats || b_combiner.kind() != Combiner::Kind::kSum) return nullptr;
  if (a_combiner.kind() == Combiner::Kind::kMax &&
      IsExpOfDifference(step, a, reduces))
    return &kExpOfDifference;
  if (a_combiner.kind() == Combiner::Kind::kSum &&
      IsSquareOfDifference(step, a, steps, reduces))
    return &kSquareOfDifference;
  return nullptr;
}

std::optional<FactoredSum> FactorOut(const Expr& body, int spatial,
                                     const Expr& sums) {
  const auto fixed = [&](const Expr& expr) {
    bool moves = false;
    Visit(expr, [&](const Expr& e) {
      moves |= e.op() == Op::kVar && e.var_id() >= spatial;
    });
    return !moves;
  };
  if (!IsFloat(body.dtype()) ||
      (body.op() != Op::kMul && body.op() != Op::kDiv))
    return std::nullopt;
  const Expr &a = body.operand(0), &b = body.operand(1);
  // The factor that moves, less the factors that can be taken out of it too.
  const auto rest = [&](const Expr& factor) {
    const std::optional<FactoredSum> inner = FactorOut(factor, spatial, sums);
    return inner ? *inner : FactoredSum{factor, sums};
  };
  if (fixed(b)) {
    FactoredSum result = rest(a);
    result.whole = Expr::Make(body.op(), {result.whole, b});
    return result;
  }
  if (body.op() == Op::kDiv) {
    std::optional<FactoredSum> inner = FactorOut(a, spatial, sums);
    if (inner) inner->steps = Expr::Make(Op::kDiv, {inner->steps, b});
    return inner;
  }
  if (fixed(a)) {
    FactoredSum result = rest(b);
    result.whole = Expr::Make(Op::kMul, {result.whole, a});
    return result;
  }
  std::optional<FactoredSum> left = FactorOut(a, spatial, sums);
  std::optional<FactoredSum> right =
      FactorOut(b, spatial, left ? left->whole : sums);
  if (!left && !right) return std::nullopt;
  return FactoredSum{
      Expr::Make(Op::kMul, {left ? left->steps : a, right ? right->steps : b}),
      right ? right->whole : left->whole};
}

bool Matches(const Expr& pattern, const Expr& expr,
             std::map<int, Expr>& bound) {
  if (pattern.op() == Op::kVar) {
    const auto [at, added] = bound.emplace(pattern.var_id(), expr);
    return added || at->second == expr;
  }
  if (pattern.op() != expr.op() || pattern.dtype() != expr.dtype() ||
      pattern.operands().size() != expr.operands().size())
    return false;
  if (pattern.op() == Op::kConst) return pattern == expr;
  if (pattern.op() == Op::kLoad && pattern.source() != expr.source())
    return false;
  for (size_t i = 0; i < pattern.operands().size(); ++i) {
    if (!Matches(pattern.operand(static_cast<int>(i)),
                 expr.operand(static_cast<int>(i)), bound))
      return false;
  }
  return true;
}

}  // namespace tilewright::sketch

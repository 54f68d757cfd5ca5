// Conditions: comparisons of linear forms, and what joins them.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "tilegraph/expr/simplify_impl.h"

namespace tilewright::simplify_internal {
namespace {

// Beyond this, comparisons are left as they stand rather than shifted by one.
constexpr int64_t kLargeConstant = int64_t{1} << 62;

Expr Bool(bool value) { return Expr::Int(value, DType::kBool); }
Op Negated(Op op) {
  switch (op) {
    case Op::kEq:
      return Op::kNe;
    case Op::kNe:
      return Op::kEq;
    case Op::kLt:
      return Op::kGe;
    case Op::kLe:
      return Op::kGt;
    case Op::kGt:
      return Op::kLe;
    default:
      return Op::kLt;
  }
}

bool Reflexive(Op op) {
  return op == Op::kEq || op == Op::kLe || op == Op::kGe;
}

int64_t GcdOfTerms(const LinearForm& form) {
  int64_t g = 0;
  for (const auto& [term, coefficient] : form.terms)
    g = std::gcd(g, coefficient);
  return g;
}

}  // namespace

// The outcome if the ranges of the two sides decide it.
std::optional<bool> DecideByRanges(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kLt:
      if (a.hi < b.lo) return true;
      if (a.lo >= b.hi) return false;
      return std::nullopt;
    case Op::kLe:
      if (a.hi <= b.lo) return true;
      if (a.lo > b.hi) return false;
      return std::nullopt;
    case Op::kEq:
      if (a.lo == a.hi && b.lo == b.hi && a.lo == b.lo) return true;
      if (a.hi < b.lo || a.lo > b.hi) return false;
      return std::nullopt;
    default: {
      std::optional<bool> opposite =
          op == Op::kNe   ? DecideByRanges(Op::kEq, a, b)
          : op == Op::kGe ? DecideByRanges(Op::kLt, a, b)
                          : DecideByRanges(Op::kLe, a, b);
      return opposite ? std::optional<bool>(!*opposite) : std::nullopt;
    }
  }
}

Expr RebuildWith(const Expr& e, std::vector<Expr> operands) {
  bool same =
      std::equal(operands.begin(), operands.end(), e.operands().begin());
  return same ? e : WithOperands(e, std::move(operands));
}

Expr Simplifier::Not(const Expr& e, const Expr& operand) {
  if (operand.op() == Op::kConst) return Bool(operand.int_value() == 0);
  if (operand.op() == Op::kNot) return operand.operand(0);
  if (IsComparison(operand.op())) {
    // A float comparison with NaN is false either way round; only equality has
    // an opposite.
    bool exact = !IsFloat(operand.operand(0).dtype()) ||
                 operand.op() == Op::kEq || operand.op() == Op::kNe;
    if (exact)
      return Run(Expr::Make(Negated(operand.op()),
                            {operand.operand(0), operand.operand(1)}));
  }
  return RebuildWith(e, {operand});
}

Expr Simplifier::Junction(const Expr& e) {
  const bool is_and = e.op() == Op::kAnd;
  std::vector<Expr> parts, pending = {e};
  while (!pending.empty()) {
    Expr next = std::move(pending.back());
    pending.pop_back();
    if (next.op() == e.op()) {
      pending.push_back(next.operand(1));
      pending.push_back(next.operand(0));
      continue;
    }
    Expr part = Run(next);
    if (part.op() ==
        e.op()) {  // its parts are simplified: Run on them is cheap
      pending.push_back(part.operand(1));
      pending.push_back(part.operand(0));
      continue;
    }
    if (is_and ? IsFalse(part) : IsTrue(part)) return part;
    if (is_and ? IsTrue(part) : IsFalse(part)) continue;
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
  }
  if (parts.empty()) return Bool(is_and);
  Expr joined = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    joined = Expr::Make(e.op(), {joined, parts[i]});
  return joined;
}

Expr Simplifier::Compare(const Expr& e) {
  const DType dtype = e.operand(0).dtype();
  Expr a = Run(e.operand(0)), b = Run(e.operand(1));
  if (IsFloat(dtype)) return RebuildWith(e, {a, b});
  if (dtype != DType::kUInt64) {
    if (std::optional<bool> decided =
            DecideByRanges(e.op(), RangeOfTree(a), RangeOfTree(b)))
      return Bool(*decided);
  }
  if (a == b) return Bool(Reflexive(e.op()));
  if (dtype != DType::kInt64) return RebuildWith(e, {a, b});
  LinearForm x = Linear(a), y = Linear(b);
  LinearForm difference = AddScaled(x, y, -1);
  if (MayWrap(x) || MayWrap(y) || MayWrap(difference) ||
      difference.constant >= kLargeConstant ||
      difference.constant <= -kLargeConstant) {
    return RebuildWith(e, {a, b});
  }
  return CompareForms(e.op(), difference);
}

Expr Simplifier::CompareForms(Op op, const LinearForm& difference) {
  switch (op) {
    case Op::kLt:
    case Op::kLe: {
      LinearForm form = difference;
      int64_t bound = (op == Op::kLe) - std::exchange(form.constant, 0);
      return LessThan(std::move(form), bound);
    }
    case Op::kGt:
      return CompareForms(Op::kLt, Scaled(difference, -1));
    case Op::kGe:
      return CompareForms(Op::kLe, Scaled(difference, -1));
    default:
      break;
  }
  if (std::optional<bool> decided =
          DecideByRanges(op, RangeOfForm(difference), Interval::Point(0)))
    return Bool(*decided);
  int64_t g = GcdOfTerms(difference);
  if (difference.constant % g != 0) return Bool(op == Op::kNe);
  LinearForm left, right;
  for (const auto& [term, coefficient] : difference.terms) {
    (coefficient > 0 ? left : right)
        .terms.emplace_back(term, std::abs(coefficient / g));
  }
  right.constant = -difference.constant / g;
  if (left.terms.empty()) {
    std::swap(left.terms, right.terms);
    right.constant = -right.constant;
  }
  return Expr::Make(op, {left.ToExpr(), right.ToExpr()});
}

// form < bound. Divides by what divides all, and drops low digits that cannot
// change the outcome: 8·m + i < 64 is m < 8 for i in [0, 8). REQUIRES:
// form.constant is 0.
Expr Simplifier::LessThan(LinearForm form, int64_t bound) {
  if (std::optional<bool> decided =
          DecideByRanges(Op::kLt, RangeOfForm(form), Interval::Point(bound)))
    return Bool(*decided);
  std::vector<int64_t> radices;
  for (const auto& [term, coefficient] : form.terms)
    radices.push_back(std::abs(coefficient));
  std::sort(radices.begin(), radices.end(), std::greater<>());
  for (int64_t g : radices) {
    if (g <= 1) break;
    LinearForm high, low;
    for (const auto& [term, coefficient] : form.terms) {
      (coefficient % g == 0 ? high : low)
          .terms.emplace_back(
              term, coefficient % g == 0 ? coefficient / g : coefficient);
    }
    Interval range = RangeOfForm(low);
    if (!range.bounded()) continue;
    int64_t shift = FloorDivide(range.lo, g), digit = FloorModulo(bound, g);
    if (FloorDivide(range.hi, g) != shift) continue;
    bool always_below = range.hi - g * shift < digit,
         never_below = range.lo - g * shift >= digit;
    if (!always_below && !never_below) continue;
    return LessThan(std::move(high),
                    FloorDivide(bound, g) + (always_below ? 1 : 0) - shift);
  }
  int64_t g = GcdOfTerms(form);
  LinearForm left, right;
  for (const auto& [term, coefficient] : form.terms) {
    (coefficient > 0 ? left : right)
        .terms.emplace_back(term, std::abs(coefficient / g));
  }
  right.constant = -FloorDivide(-bound, g);
  if (!left.terms.empty())
    return Expr::Make(Op::kLt, {left.ToExpr(), right.ToExpr()});
  return Expr::Make(Op::kGe, {LinearForm{0, right.terms}.ToExpr(),
                              Expr::Int(1 - right.constant)});
}

}  // namespace tilewright::simplify_internal

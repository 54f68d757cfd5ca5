// Linear forms and their digits: Σ cᵢ·tᵢ + k, and what floordiv and mod by a
// constant make of it.
#include <algorithm>
#include <numeric>
#include <utility>

#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify_impl.h"

namespace tilewright {

Expr LinearForm::ToExpr() const {
  Expr sum;
  auto add = [&](const Expr& term, int64_t coefficient) {
    Expr product = coefficient == 1
                       ? term
                       : Expr::Make(Op::kMul, {term, Expr::Int(coefficient)});
    sum = sum ? Expr::Make(Op::kAdd, {sum, product}) : product;
  };
  for (const auto& [term, coefficient] : terms) {
    if (coefficient > 0) add(term, coefficient);
  }
  int64_t rest = constant;
  bool negative = std::any_of(terms.begin(), terms.end(),
                              [](const auto& t) { return t.second < 0; });
  if (!sum && (rest != 0 || negative)) sum = Expr::Int(std::exchange(rest, 0));
  for (const auto& [term, coefficient] : terms) {
    if (coefficient >= 0) continue;
    int64_t magnitude = WrapSub(0, coefficient);
    sum = Expr::Make(
        Op::kSub,
        {sum, magnitude == 1
                  ? term
                  : Expr::Make(Op::kMul, {term, Expr::Int(magnitude)})});
  }
  if (!sum) return Expr::Int(rest);
  if (rest > 0) return Expr::Make(Op::kAdd, {sum, Expr::Int(rest)});
  if (rest < 0) return Expr::Make(Op::kSub, {sum, Expr::Int(WrapSub(0, rest))});
  return sum;
}

int64_t LinearForm::CoefficientOf(int var_id) const {
  for (const auto& [term, coefficient] : terms) {
    if (term.op() == Op::kVar && term.var_id() == var_id) return coefficient;
  }
  return 0;
}

namespace simplify_internal {
namespace {

template <typename T>
int ThreeWay(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

// The terms whose coefficient `g` divides, divided by it; and the others.
void SplitBy(const LinearForm& form, int64_t g, LinearForm& high,
             LinearForm& low) {
  for (const auto& [term, coefficient] : form.terms) {
    if (coefficient % g == 0) {
      high.terms.emplace_back(term, coefficient / g);
    } else {
      low.terms.emplace_back(term, coefficient);
    }
  }
}

bool IsPositiveConst(const Expr& e) {
  return e.op() == Op::kConst && e.int_value() > 0;
}

// The form's term that is a quotient, if there is one alone, once and by a
// constant.
const Expr* OnlyQuotient(const LinearForm& form) {
  const Expr* only = nullptr;
  for (const auto& [term, coefficient] : form.terms) {
    if (term.op() != Op::kFloorDiv) continue;
    if (only != nullptr || coefficient != 1 ||
        !IsPositiveConst(term.operand(1)))
      return nullptr;
    only = &term;
  }
  return only;
}

}  // namespace

int CompareExprs(const Expr& a, const Expr& b) {
  if (a == b)
    return 0;  // cheap for shared subtrees, which would otherwise be walked
               // once per path
  if (a.op() != b.op()) {
    if (a.op() == Op::kVar) return -1;
    if (b.op() == Op::kVar) return 1;
    return ThreeWay(a.op(), b.op());
  }
  if (a.dtype() != b.dtype()) return ThreeWay(a.dtype(), b.dtype());
  switch (a.op()) {
    case Op::kVar:
      return ThreeWay(a.var_id(), b.var_id());
    case Op::kConst:
      return IsFloat(a.dtype()) ? ThreeWay(a.float_value(), b.float_value())
                                : ThreeWay(a.int_value(), b.int_value());
    case Op::kLoad:
      if (a.source() != b.source()) return ThreeWay(a.source(), b.source());
      break;
    default:
      break;
  }
  if (a.operands().size() != b.operands().size())
    return ThreeWay(a.operands().size(), b.operands().size());
  for (size_t i = 0; i < a.operands().size(); ++i) {
    if (int order = CompareExprs(a.operands()[i], b.operands()[i]))
      return order;
  }
  return 0;
}

LinearForm AddScaled(const LinearForm& a, const LinearForm& b, int64_t scale) {
  LinearForm r;
  r.constant = WrapAdd(a.constant, WrapMul(b.constant, scale));
  r.terms.reserve(a.terms.size() + b.terms.size());
  auto add = [&](const Expr& term, int64_t coefficient) {
    if (coefficient != 0) r.terms.emplace_back(term, coefficient);
  };
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    int order = i == a.terms.end()   ? 1
                : j == b.terms.end() ? -1
                                     : CompareExprs(i->first, j->first);
    if (order < 0) {
      r.terms.push_back(*i++);
    } else if (order > 0) {
      add(j->first, WrapMul(j->second, scale));
      ++j;
    } else {
      add(i->first, WrapAdd(i->second, WrapMul(j->second, scale)));
      ++i, ++j;
    }
  }
  return r;
}

LinearForm Scaled(const LinearForm& a, int64_t scale) {
  return AddScaled({}, a, scale);
}

LinearForm SingleTerm(Expr term) {
  LinearForm r;
  r.terms.emplace_back(std::move(term), 1);
  return r;
}

const Expr* AsSingleTerm(const LinearForm& form) {
  return form.constant == 0 && form.terms.size() == 1 &&
                 form.terms[0].second == 1
             ? &form.terms[0].first
             : nullptr;
}

Expr Simplifier::TreeOf(const LinearForm& form) {
  Expr tree = form.ToExpr();
  if (!tree.operands().empty()) linear_.emplace(tree, form);
  return tree;
}

Interval Simplifier::RangeOfForm(const LinearForm& form) {
  if (const Expr* term = AsSingleTerm(form)) return RangeOfNode(*term);
  Interval sum = Interval::Point(form.constant);
  for (const auto& [term, coefficient] : form.terms)
    sum = sum + RangeOfNode(term) * Interval::Point(coefficient);
  return sum;
}

bool Simplifier::MayWrap(const LinearForm& form) {
  Interval known = Interval::Point(form.constant);
  for (const auto& [term, coefficient] : form.terms) {
    Interval range = RangeOfNode(term);
    if (range.bounded()) {
      known = known + range * Interval::Point(coefficient);
    } else if (HoldsLoad(term)) {
      return true;
    }
  }
  return !known.bounded();
}

// Mixed-radix digits. With form = divisor·Q + R (Q the whole multiples), find a
// g dividing the divisor such that R = g·H + low with low in [0, g) after a
// shift of H; then R floordiv divisor = H floordiv (divisor/g), and R mod
// divisor = g·(H mod (divisor/g)) + low.
QuotientRemainder Simplifier::DivMod(const LinearForm& form, int64_t divisor) {
  if (divisor == 1) return {form, {}};
  if (MayWrap(form)) {
    return {SingleTerm(
                Expr::Make(Op::kFloorDiv, {TreeOf(form), Expr::Int(divisor)})),
            SingleTerm(
                Expr::Make(Op::kFloorMod, {TreeOf(form), Expr::Int(divisor)}))};
  }
  LinearForm whole, rest;
  whole.constant = FloorDivide(form.constant, divisor);
  rest.constant = FloorModulo(form.constant, divisor);
  std::vector<int64_t> radices = {divisor};
  for (const auto& [term, coefficient] : form.terms) {
    if (coefficient / divisor != 0)
      whole.terms.emplace_back(term, coefficient / divisor);
    if (coefficient % divisor == 0) continue;
    rest.terms.emplace_back(term, coefficient % divisor);
    radices.push_back(std::gcd(coefficient, divisor));
  }
  if (rest.terms.empty()) return {whole, rest};
  std::sort(radices.begin(), radices.end(), std::greater<>());
  radices.erase(std::unique(radices.begin(), radices.end()), radices.end());
  for (int64_t g : radices) {
    if (g == 1) break;
    LinearForm high, low;
    SplitBy(rest, g, high, low);
    low.constant = rest.constant;
    Interval range = RangeOfForm(low);
    if (!range.bounded()) continue;
    int64_t shift = FloorDivide(range.lo, g);
    if (FloorDivide(range.hi, g) != shift) continue;
    low.constant -= g * shift;
    high.constant = shift;
    if (g == divisor) return {AddScaled(whole, high, 1), low};
    QuotientRemainder digits = DivMod(high, divisor / g);
    return {AddScaled(whole, digits.quotient, 1),
            AddScaled(low, digits.remainder, g)};
  }
  QuotientRemainder digits = Irreducible(std::move(rest), divisor);
  return {AddScaled(whole, digits.quotient, 1), std::move(digits.remainder)};
}

QuotientRemainder Simplifier::Irreducible(LinearForm form, int64_t divisor) {
  QuotientRemainder result;
  bool single = form.terms.size() == 1 && form.terms[0].second == 1;
  const Expr* term = single ? &form.terms[0].first : nullptr;
  int64_t joined;
  if (const Expr* inner = OnlyQuotient(form);
      inner != nullptr && !__builtin_mul_overflow(inner->operand(1).int_value(),
                                                  divisor, &joined)) {
    // (x floordiv a + y) floordiv b = (x + a·y) floordiv (a·b)
    const LinearForm y = AddScaled(form, SingleTerm(*inner), -1);
    result.quotient = DivMod(AddScaled(Linear(inner->operand(0)), y,
                                       inner->operand(1).int_value()),
                             joined)
                          .quotient;
  } else if (single && form.constant == 0 && term->op() == Op::kFloorMod &&
             IsPositiveConst(term->operand(1)) &&
             term->operand(1).int_value() % divisor == 0) {
    // (x mod a·b) floordiv b = (x floordiv b) mod a
    result.quotient = DivMod(DivMod(Linear(term->operand(0)), divisor).quotient,
                             term->operand(1).int_value() / divisor)
                          .remainder;
  } else {
    result.quotient = SingleTerm(
        Expr::Make(Op::kFloorDiv, {TreeOf(form), Expr::Int(divisor)}));
  }
  // c·(x mod a) mod b = c·x mod b if b divides c·a.
  LinearForm open;
  open.constant = form.constant;
  bool opened = false;
  for (const auto& [t, coefficient] : form.terms) {
    int64_t period;
    bool redundant = t.op() == Op::kFloorMod && IsPositiveConst(t.operand(1)) &&
                     !__builtin_mul_overflow(t.operand(1).int_value(),
                                             coefficient, &period) &&
                     period % divisor == 0;
    opened |= redundant;
    open = AddScaled(open, redundant ? Linear(t.operand(0)) : SingleTerm(t),
                     coefficient);
  }
  if (opened && !MayWrap(open)) {
    result.remainder = DivMod(open, divisor).remainder;
  } else {
    result.remainder = SingleTerm(
        Expr::Make(Op::kFloorMod, {TreeOf(form), Expr::Int(divisor)}));
  }
  return result;
}

LinearForm Simplifier::JoinDigits(LinearForm form) {
  while (JoinOnePair(form)) {
  }
  return form;
}

bool Simplifier::JoinOnePair(LinearForm& form) {
  for (const auto& [mod, k] : form.terms) {
    if (mod.op() != Op::kFloorMod || !IsPositiveConst(mod.operand(1))) continue;
    const int64_t m = mod.operand(1).int_value();
    int64_t wanted;
    if (__builtin_mul_overflow(k, m, &wanted)) continue;
    for (const auto& [other, coefficient] : form.terms) {
      if (other.op() == Op::kFloorDiv && coefficient == wanted) {
        // k·m·(x floordiv m) + k·(x mod m) = k·x
        LinearForm x = Linear(mod.operand(0));
        LinearForm quotient = DivMod(x, m).quotient;
        const Expr* term = AsSingleTerm(quotient);
        if (term == nullptr || *term != other) continue;
        form = AddScaled(AddScaled(AddScaled(form, SingleTerm(other), -wanted),
                                   SingleTerm(mod), -k),
                         x, k);
        return true;
      }
      if (other.op() == Op::kFloorMod && coefficient == wanted &&
          IsPositiveConst(other.operand(1))) {
        // k·m·((x floordiv m + y) mod n) + k·(x mod m) = k·((x + m·y) mod m·n)
        const int64_t n = other.operand(1).int_value();
        const LinearForm high = Linear(other.operand(0));
        const Expr* const quotient = OnlyQuotient(high);
        int64_t joined;
        if (quotient == nullptr || !quotient->operand(1).IsIntConst(m) ||
            quotient->operand(0) != mod.operand(0) ||
            __builtin_mul_overflow(m, n, &joined))
          continue;
        const LinearForm x =
            AddScaled(Linear(mod.operand(0)),
                      AddScaled(high, SingleTerm(*quotient), -1), m);
        form = AddScaled(AddScaled(AddScaled(form, SingleTerm(other), -wanted),
                                   SingleTerm(mod), -k),
                         DivMod(x, joined).remainder, k);
        return true;
      }
    }
  }
  return false;
}

}  // namespace simplify_internal
}  // namespace tilewright

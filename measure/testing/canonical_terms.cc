#include "measure/testing/canonical_terms.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/testing/comparison_outcomes.h"

namespace tilewright::measure {
namespace {

bool IsReal(const TermNode& node, Op op) {
  return node.kind == TermKind::kOp && node.op == op && IsFloat(node.dtype);
}

// How often each operand occurs, for operands that stand for several.
std::string Times(const std::map<Term, int>& times) {
  std::string text;
  for (const auto& [term, count] : times) text += std::to_string(count) + " ";
  return text;
}
std::vector<Term> Keys(const std::map<Term, int>& times) {
  std::vector<Term> keys;
  for (const auto& [term, count] : times) keys.push_back(term);
  return keys;
}

}  // namespace

Term CanonicalTerms::Of(Term term) {
  const auto found = known_.find(term);
  if (found != known_.end()) return found->second;
  const Term result = Compute(term);
  known_[term] = result;
  known_[result] = result;
  return result;
}

Term CanonicalTerms::Compute(Term term) {
  const TermNode node = terms_.node(term);
  if (node.operands.empty()) return term;
  if (node.kind == TermKind::kFma || IsReal(node, Op::kAdd) ||
      IsReal(node, Op::kSub))
    return OfSum(term);
  if (IsReal(node, Op::kMul) || IsReal(node, Op::kNeg)) return OfProduct(term);
  if (IsReal(node, Op::kMax) || IsReal(node, Op::kMin))
    return OfChoice(term, node.op);
  std::vector<Term> operands;
  for (const Term operand : node.operands) operands.push_back(Of(operand));
  if (node.kind != TermKind::kOp)
    return terms_.Make(node.kind, node.dtype, operands, node.payload);
  switch (node.op) {
    case Op::kSelect:
      return OfSelect(node.dtype, operands);
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      return OfComparison(node.op, node.operand_dtype, operands[0],
                          operands[1]);
    case Op::kIsNan:
      return Compared(operands[0], operands[0], kUnordered);
    case Op::kAnd:
    case Op::kOr:
      if (node.dtype == DType::kBool)
        return OfLogic(node.op, operands[0], operands[1]);
      break;
    default:
      break;
  }
  return terms_.Apply(node.op, node.dtype, node.operand_dtype, operands);
}

std::pair<bool, Term> CanonicalTerms::SignOf(Term canonical) {
  const TermNode node = terms_.node(canonical);
  if (IsReal(node, Op::kNeg)) return {true, node.operands[0]};
  if (const auto value = terms_.Value(canonical);
      value && IsFloat(node.dtype) && std::signbit(value->f))
    return {true, terms_.Const(node.dtype, {-value->f, 0})};
  return {false, canonical};
}

Term CanonicalTerms::Negated(bool negative, Term canonical) {
  if (!negative) return canonical;
  const DType dtype = terms_.dtype(canonical);
  return terms_.Apply(Op::kNeg, dtype, dtype, {canonical});
}

void CanonicalTerms::Multiply(Term term, Product& product) {
  const TermNode node = terms_.node(term);
  if (IsReal(node, Op::kMul)) {
    for (const Term operand : node.operands) Multiply(operand, product);
    return;
  }
  if (IsReal(node, Op::kNeg)) {
    product.negative = !product.negative;
    return Multiply(node.operands[0], product);
  }
  const auto [negative, factor] = SignOf(Of(term));
  product.negative ^= negative;
  const TermNode canonical = terms_.node(factor);
  if (canonical.kind == TermKind::kProduct) {
    std::vector<int> times;
    for (size_t i = 0, at = 0; i < canonical.operands.size(); ++i) {
      size_t read = 0;
      times.push_back(std::stoi(canonical.payload.substr(at), &read));
      at += read;
      product.powers[canonical.operands[i]] += times.back();
    }
  } else if (const auto value = terms_.Value(factor); !value || value->f != 1) {
    ++product.powers[factor];
  }
}

bool CanonicalTerms::IsZero(const Product& product) const {
  bool zero = false, inputs = true;
  for (const auto& [factor, times] : product.powers) {
    const auto value = terms_.Value(factor);
    zero = zero || (value && value->f == 0);
    inputs = inputs && (value ? std::isfinite(value->f)
                              : terms_.node(factor).kind == TermKind::kInput);
  }
  return zero && inputs;
}

Term CanonicalTerms::FromProduct(const Product& product) {
  if (product.powers.size() == 1 && product.powers.begin()->second == 1)
    return product.powers.begin()->first;
  if (product.powers.empty()) return terms_.Const(DType::kFloat32, {1, 0});
  if (IsZero(product))
    return terms_.Const(terms_.dtype(product.powers.begin()->first), {});
  return terms_.Make(TermKind::kProduct,
                     terms_.dtype(product.powers.begin()->first),
                     Keys(product.powers), Times(product.powers));
}

Term CanonicalTerms::OfProduct(Term term) {
  Product product;
  Multiply(term, product);
  return Negated(product.negative, FromProduct(product));
}

void CanonicalTerms::Add(Term term, bool negative, Sum& sum) {
  // Sums are long: no recursion along them.
  std::vector<std::pair<Term, bool>> rest = {{term, negative}};
  while (!rest.empty()) {
    const auto [next, minus] = rest.back();
    rest.pop_back();
    const TermNode node = terms_.node(next);
    if (IsReal(node, Op::kAdd) || IsReal(node, Op::kSub)) {
      rest.push_back({node.operands[0], minus});
      rest.push_back({node.operands[1], minus != (node.op == Op::kSub)});
      continue;
    }
    if (node.kind == TermKind::kFma) {
      rest.push_back({node.operands[2], minus});
      Product product;
      Multiply(node.operands[0], product), Multiply(node.operands[1], product);
      if (!IsZero(product))
        sum[FromProduct(product)] += product.negative != minus ? -1 : 1;
      continue;
    }
    const auto [own, addend] = SignOf(Of(next));
    const TermNode canonical = terms_.node(addend);
    const int sign = own != minus ? -1 : 1;
    if (canonical.kind == TermKind::kSum) {
      for (size_t i = 0, at = 0; i < canonical.operands.size(); ++i) {
        size_t read = 0;
        sum[canonical.operands[i]] +=
            sign * std::stoi(canonical.payload.substr(at), &read);
        at += read;
      }
    } else if (const auto value = terms_.Value(addend);
               !value || value->f != 0) {
      sum[addend] += sign;
    }
  }
}

Term CanonicalTerms::OfSum(Term term) {
  Sum sum;
  Add(term, false, sum);
  // Rounding is left of terms that cancel: they stay, as zero times.
  if (sum.empty()) return terms_.Const(terms_.dtype(term), {});
  const bool negative = sum.begin()->second < 0;
  if (negative) {
    for (auto& [addend, times] : sum) times = -times;
  }
  if (sum.size() == 1 && sum.begin()->second == 1)
    return Negated(negative, sum.begin()->first);
  return Negated(negative, terms_.Make(TermKind::kSum, terms_.dtype(term),
                                       Keys(sum), Times(sum)));
}

Term CanonicalTerms::OfChoice(Term term, Op op) {
  const DType dtype = terms_.dtype(term);
  const double least = op == Op::kMax ? -INFINITY : INFINITY;
  std::set<Term> choices;
  std::vector<Term> rest = {term};
  while (!rest.empty()) {
    const Term next = rest.back();
    rest.pop_back();
    const TermNode node = terms_.node(next);
    if (IsReal(node, op)) {
      rest.insert(rest.end(), node.operands.begin(), node.operands.end());
    } else if (const auto value = terms_.Value(next);
               !value || value->f != least) {
      choices.insert(Of(next));
    }
  }
  if (choices.empty()) return terms_.Const(dtype, {least, 0});
  if (choices.size() == 1) return *choices.begin();
  return terms_.Make(op == Op::kMax ? TermKind::kLargest : TermKind::kSmallest,
                     dtype, {choices.begin(), choices.end()});
}

std::optional<std::set<int64_t>> CanonicalTerms::ValuesOf(Term term) {
  constexpr size_t kMostValues = 256;
  std::set<int64_t> values;
  std::set<Term> seen;
  std::vector<Term> rest = {term};
  while (!rest.empty()) {
    const Term next = rest.back();
    rest.pop_back();
    if (!seen.insert(next).second) continue;
    const TermNode& node = terms_.node(next);
    if (node.kind == TermKind::kOp && node.op == Op::kSelect) {
      rest.insert(rest.end(), node.operands.begin() + 1, node.operands.end());
    } else if (node.kind == TermKind::kConst && !IsFloat(node.dtype)) {
      values.insert(node.value.i);
    } else {
      return std::nullopt;
    }
    if (values.size() > kMostValues) return std::nullopt;
  }
  return values;
}

Term CanonicalTerms::Compared(Term a, Term b, int outcomes) {
  int all = a == b ? kEqual : kLess | kEqual | kGreater;
  if (IsFloat(terms_.dtype(a))) {
    const auto x = terms_.Value(a), y = terms_.Value(b);
    if ((x && std::isnan(x->f)) || (y && std::isnan(y->f)))
      return terms_.Const(DType::kBool, {0, (outcomes & kUnordered) != 0});
    // Nothing lies beyond an infinity.
    if ((x && x->f == INFINITY) || (y && y->f == -INFINITY)) all &= ~kLess;
    if ((x && x->f == -INFINITY) || (y && y->f == INFINITY)) all &= ~kGreater;
    // Whether a value is NaN shows beside itself, too.
    const bool ordered = (outcomes & all) == all,
               unordered = (outcomes & all) == 0;
    if (a != b && (x || y) && (ordered || unordered)) {
      const Term own = x ? b : a;
      return Compared(own, own,
                      (ordered ? kEqual : 0) | (outcomes & kUnordered));
    }
    all |= kUnordered;
  }
  outcomes &= all;
  if (outcomes == 0 || outcomes == all)
    return terms_.Const(DType::kBool, {0, outcomes != 0});
  return terms_.Make(TermKind::kCompared, DType::kBool, {a, b},
                     std::to_string(outcomes));
}

Term CanonicalTerms::OfComparison(Op op, DType dtype, Term a, Term b) {
  if (terms_.Value(a) && terms_.Value(b))
    return terms_.Apply(op, DType::kBool, dtype, {a, b});
  int outcomes = *OutcomesOf(op);
  if (!IsFloat(dtype) && dtype != DType::kUInt64) {
    const auto left = ValuesOf(a), right = ValuesOf(b);
    int found = 0;
    if (left && right) {
      for (const int64_t x : *left) {
        for (const int64_t y : *right)
          found |= x < y ? kLess : x > y ? kGreater : kEqual;
      }
      if ((found & outcomes) == 0 || (found & ~outcomes) == 0)
        return terms_.Const(DType::kBool, {0, (found & outcomes) != 0});
      outcomes &= found;
    }
  }
  if (a > b) {
    std::swap(a, b);
    outcomes = Turned(outcomes);
  }
  return Compared(a, b, outcomes);
}

// Only what is no NaN compares as anything.
bool CanonicalTerms::Implies(Term comparison, Term ordered) const {
  const TermNode &x = terms_.node(comparison), &y = terms_.node(ordered);
  return x.kind == TermKind::kCompared && y.kind == TermKind::kCompared &&
         y.operands[0] == y.operands[1] && std::stoi(y.payload) == kEqual &&
         (x.operands[0] == y.operands[0] || x.operands[1] == y.operands[0]) &&
         (std::stoi(x.payload) & kUnordered) == 0;
}

Term CanonicalTerms::OfLogic(Op op, Term a, Term b) {
  const bool both = op == Op::kAnd;
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const auto value = terms_.Value(one))
      return (value->i != 0) == both ? other : one;
  }
  if (a == b || Implies(b, a)) return both ? b : a;
  if (Implies(a, b)) return both ? a : b;
  const TermNode x = terms_.node(a), y = terms_.node(b);
  if (x.kind == TermKind::kCompared && y.kind == TermKind::kCompared &&
      x.operands == y.operands) {
    const int p = std::stoi(x.payload), q = std::stoi(y.payload);
    return Compared(x.operands[0], x.operands[1], both ? p & q : p | q);
  }
  return terms_.Apply(op, DType::kBool, DType::kBool, {a, b});
}

Term CanonicalTerms::OfSelect(DType dtype, const std::vector<Term>& operands) {
  Term condition = operands[0];
  const TermNode compared = terms_.node(condition);
  // Where both are equal, either will do.
  if (compared.kind == TermKind::kCompared &&
      std::set<Term>(compared.operands.begin(), compared.operands.end()) ==
          std::set<Term>{operands[1], operands[2]})
    condition = Compared(compared.operands[0], compared.operands[1],
                         std::stoi(compared.payload) & ~kEqual);
  return terms_.Apply(Op::kSelect, dtype, dtype,
                      {condition, operands[1], operands[2]});
}

}  // namespace tilewright::measure

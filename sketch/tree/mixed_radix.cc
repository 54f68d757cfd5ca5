#include "sketch/tree/mixed_radix.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// Loops of one iteration may stand in one expression and not in another.
void DropZeroTerms(LinearForm& form, const RangeOf& ranges) {
  auto is_zero = [&](const std::pair<Expr, int64_t>& term) {
    std::optional<Range> range = RangeOfExpr(term.first, ranges);
    return range && range->min == 0 && range->max == 0;
  };
  form.terms.erase(
      std::remove_if(form.terms.begin(), form.terms.end(), is_zero),
      form.terms.end());
}

// Whether `predicate` is about all variables of the terms: only then can it say
// what their sum may be.
bool MentionsAll(const Expr& predicate, const Terms& terms) {
  std::set<int> missing;
  for (const auto& [term, coefficient] : terms) missing.merge(VarsOf(term));
  Visit(predicate, [&](const Expr& e) {
    if (e.op() == Op::kVar) missing.erase(e.var_id());
  });
  return missing.empty();
}

// The largest value of the sum of `terms` that some predicate admits; the
// predicates that say so are added to `used`.
std::optional<int64_t> UpperBound(const Terms& terms,
                                  const std::vector<Expr>& predicates,
                                  const RangeOf& ranges,
                                  std::set<size_t>& used) {
  std::optional<int64_t> bound;
  for (size_t i = 0; i < predicates.size(); ++i) {
    const Expr& p = predicates[i];
    if (!MentionsAll(p, terms)) continue;
    Expr difference;  // predicate: difference + slack <= 0
    int64_t slack = 0;
    switch (p.op()) {
      case Op::kLt:
        difference = p.operand(0) - p.operand(1);
        slack = 1;
        break;
      case Op::kLe:
        difference = p.operand(0) - p.operand(1);
        break;
      case Op::kGt:
        difference = p.operand(1) - p.operand(0);
        slack = 1;
        break;
      case Op::kGe:
        difference = p.operand(1) - p.operand(0);
        break;
      default:
        continue;
    }
    LinearForm form = ToLinear(difference, ranges);
    DropZeroTerms(form, ranges);
    if (!SameTerms(form.terms, terms)) continue;
    used.insert(i);
    int64_t candidate = -form.constant - slack;
    bound = bound ? std::min(*bound, candidate) : candidate;
  }
  return bound;
}

int64_t CountNodes(const Expr& e) {
  int64_t count = 1;
  for (const Expr& operand : e.operands()) count += CountNodes(operand);
  return count;
}

bool Contains(const Expr& whole, const Expr& part) {
  if (whole == part) return true;
  return std::any_of(whole.operands().begin(), whole.operands().end(),
                     [&](const Expr& e) { return Contains(e, part); });
}

RangeOf WithTails(const RangeOf& ranges, const std::vector<TailVar>& tails) {
  if (tails.empty()) return ranges;
  std::map<int, int64_t> extents;
  for (const TailVar& tail : tails) extents[tail.var] = tail.extent;
  return [ranges, extents](int var) -> std::optional<Range> {
    auto it = extents.find(var);
    return it == extents.end() ? ranges(var) : Range{0, it->second - 1};
  };
}

}  // namespace

bool SameTerms(const Terms& a, const Terms& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].second != b[i].second || a[i].first != b[i].first) return false;
  }
  return true;
}

Folded FoldTails(std::vector<Expr> bindings,
                 const std::vector<Expr>& predicates, const IsInner& is_inner,
                 const RangeOf& ranges) {
  constexpr int kFirstTailVar = 1 << 28;
  Folded folded;
  folded.bindings = std::move(bindings);
  folded.ranges = ranges;
  std::vector<Expr> pending = predicates;
  // Values inside other values come first.
  if (pending.size() > 1) {
    std::stable_sort(pending.begin(), pending.end(),
                     [](const Expr& a, const Expr& b) {
                       return CountNodes(a) < CountNodes(b);
                     });
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    const Expr p = pending[i];
    bool is_tail = p.op() == Op::kLt && p.operand(1).op() == Op::kConst &&
                   p.operand(0).op() != Op::kVar &&
                   p.operand(0).op() != Op::kConst;
    if (is_tail) {
      Visit(p.operand(0), [&](const Expr& e) {
        if (e.op() == Op::kVar && e.var_id() < kFirstTailVar &&
            !is_inner(e.var_id()))
          is_tail = false;
      });
    }
    if (is_tail) {
      const auto occurs_in = [&](const Expr& where) {
        return Contains(where, p.operand(0));
      };
      is_tail =
          std::any_of(folded.bindings.begin(), folded.bindings.end(),
                      occurs_in) ||
          std::any_of(pending.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      pending.end(), occurs_in);
    }
    if (is_tail) {
      std::optional<Range> range = RangeOfExpr(p.operand(0), folded.ranges);
      is_tail = range && range->min == 0 && p.operand(1).int_value() >= 1 &&
                range->max >= p.operand(1).int_value();
    }
    if (!is_tail) {
      folded.predicates.push_back(p);
      continue;
    }
    TailVar tail{kFirstTailVar + static_cast<int>(folded.tails.size()),
                 p.operand(0), p.operand(1).int_value()};
    const Expr var = Expr::Var(tail.var, "tail");
    auto replace = [&](Expr& where) {
      where = Rewrite(
          where, [&](const Expr& e) { return e == tail.value ? var : Expr(); });
    };
    for (Expr& binding : folded.bindings) replace(binding);
    for (size_t j = i + 1; j < pending.size(); ++j) replace(pending[j]);
    folded.tails.push_back(std::move(tail));
    folded.ranges = WithTails(ranges, folded.tails);
  }
  return folded;
}

Walk JoinDigits(const LinearForm& form, std::vector<Digit> digits,
                int64_t offset, const std::vector<Expr>& predicates,
                const RangeOf& ranges) {
  Walk walk;
  walk.offset = offset;
  std::stable_sort(digits.begin(), digits.end(),
                   [](const Digit& a, const Digit& b) {
                     return a.coefficient < b.coefficient;
                   });
  int64_t gcd = 0;
  for (const Digit& d : digits) gcd = std::gcd(gcd, d.coefficient);
  walk.step = std::max<int64_t>(gcd, 1);
  std::vector<size_t> joined;
  // A predicate on the digits joined so far cuts off the values of a tail.
  // (Digits with an offset are never cut.)
  auto cut = [&] {
    if (offset != 0) return;
    Terms terms;
    std::vector<size_t> sorted = joined;
    std::sort(sorted.begin(), sorted.end());
    for (size_t t : sorted) terms.push_back(form.terms[t]);
    std::optional<int64_t> bound =
        UpperBound(terms, predicates, ranges, walk.used);
    if (bound && *bound >= 0)
      walk.count = std::min(walk.count, *bound / walk.step + 1);
  };
  for (const Digit& d : digits) {
    if (d.coefficient < walk.count * walk.step) cut();
    walk.has_overlaps |= d.coefficient < walk.count * walk.step;
    walk.has_gaps |= d.coefficient > walk.count * walk.step;
    walk.count += d.coefficient / walk.step * (d.extent - 1);
    joined.push_back(d.term);
  }
  cut();
  return walk;
}

}  // namespace tilewright::sketch

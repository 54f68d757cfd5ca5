#include "measure/testing/winner_cases.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/testing/comparison_outcomes.h"

namespace tilewright::measure {
namespace {

constexpr int kOrdered = kLess | kEqual | kGreater;

bool IsOp(const TermNode& node, Op op) {
  return node.kind == TermKind::kOp && node.op == op;
}

// Terms as they are in one case. Truth values are decision diagrams: selects
// whose conditions are comparisons that the case does not decide, those with
// greater numbers first.
class OneCase {
 public:
  // `rank`: of the floats that are read, 0, 1, ... `either`: one of two equal
  // floats stands for both. That proves more where values are chosen by other
  // comparisons than their indices, and else less.
  OneCase(Terms& terms, const std::map<Term, int>& rank, Term winner,
          bool is_nan, bool largest, bool either)
      : terms_(terms),
        rank_(rank),
        winner_(winner),
        is_nan_(is_nan),
        largest_(largest),
        either_(either) {}

  Term Of(Term term) {
    const auto found = known_.find(term);
    if (found != known_.end()) return found->second;
    const Term result = Compute(term);
    known_[term] = result;
    return result;
  }

 private:
  Term Bool(bool value) { return terms_.Const(DType::kBool, {0, value}); }

  Term Compute(Term term) {
    const TermNode node = terms_.node(term);
    if (term == winner_ && is_nan_)
      return terms_.Const(node.dtype, {std::nan(""), 0});
    if (node.operands.empty()) return term;
    std::vector<Term> operands;
    for (const Term operand : node.operands) operands.push_back(Of(operand));
    if (node.kind != TermKind::kOp)
      return terms_.Make(node.kind, node.dtype, operands, node.payload);
    const bool truth = node.dtype == DType::kBool;
    if (node.op == Op::kSelect) {
      return truth ? If(operands[0], operands[1], operands[2])
                   : Choice(node.dtype, operands[0], operands[1], operands[2]);
    }
    if (node.op == Op::kIsNan) return IsNan(operands[0]);
    if (const std::optional<int> outcomes = OutcomesOf(node.op))
      return Compared(*outcomes, operands[0], operands[1]);
    if (truth && node.op == Op::kAnd)
      return If(operands[0], operands[1], Bool(false));
    if (truth && node.op == Op::kOr)
      return If(operands[0], Bool(true), operands[1]);
    if (truth && node.op == Op::kNot)
      return If(operands[0], Bool(false), Bool(true));
    return terms_.Apply(node.op, node.dtype, node.operand_dtype, operands);
  }

  // The term that a diagram decides first: itself, if it is no select.
  Term Top(Term diagram) const {
    if (terms_.Value(diagram)) return -1;
    const TermNode& node = terms_.node(diagram);
    return IsOp(node, Op::kSelect) ? node.operands[0] : diagram;
  }
  Term Where(Term diagram, Term condition, bool value) {
    if (Top(diagram) != condition) return diagram;
    return diagram == condition ? Bool(value)
                                : terms_.node(diagram).operands[value ? 1 : 2];
  }
  Term If(Term condition, Term then, Term otherwise) {
    if (const auto value = terms_.Value(condition))
      return value->i != 0 ? then : otherwise;
    if (then == otherwise) return then;
    const auto key = std::make_tuple(condition, then, otherwise);
    const auto found = ifs_.find(key);
    if (found != ifs_.end()) return found->second;
    const Term top = std::max({Top(condition), Top(then), Top(otherwise)});
    Term sides[2];
    for (const bool value : {false, true})
      sides[value] = If(Where(condition, top, value), Where(then, top, value),
                        Where(otherwise, top, value));
    const bool own = sides[1] == Bool(true) && sides[0] == Bool(false);
    return ifs_[key] =
               own ? top
                   : terms_.Apply(Op::kSelect, DType::kBool, DType::kBool,
                                  {top, sides[1], sides[0]});
  }

  // As if `condition`, of two values, were not true.
  Term Without(Term condition, Term diagram) {
    const Term top = Top(diagram);
    if (top < condition) return diagram;
    return top == condition
               ? Where(diagram, top, false)
               : If(top, Without(condition, Where(diagram, top, true)),
                    Without(condition, Where(diagram, top, false)));
  }

  Term Choice(DType dtype, Term condition, Term then, Term otherwise) {
    if (either_ && IsFloat(dtype) && !terms_.Value(condition)) {
      condition =
          Without(terms_.Apply(Op::kEq, DType::kBool, dtype, {then, otherwise}),
                  condition);
      for (const auto& [one, other] :
           {std::pair(then, otherwise), std::pair(otherwise, then)}) {
        const auto value = terms_.Value(one);
        const Term nan = IsNan(other);
        if (value && std::isnan(value->f) && Top(nan) == nan)
          condition = Without(nan, condition);
      }
    }
    return terms_.Apply(Op::kSelect, dtype, dtype,
                        {condition, then, otherwise});
  }

  Term IsNan(Term term) {
    const TermNode node = terms_.node(term);
    if (!IsFloat(node.dtype)) return Bool(false);
    if (node.kind == TermKind::kConst) return Bool(std::isnan(node.value.f));
    if (const auto found = rank_.find(term);
        found != rank_.end() && (!is_nan_ || found->second < rank_.at(winner_)))
      return Bool(false);
    const auto found = nans_.find(term);
    if (found != nans_.end()) return found->second;
    return nans_[term] =
               IsOp(node, Op::kSelect)
                   ? If(node.operands[0], IsNan(node.operands[1]),
                        IsNan(node.operands[2]))
                   : terms_.Apply(Op::kIsNan, DType::kBool, node.dtype, {term});
  }

  // The outcomes that comparing integers, or floats of which none is NaN, may
  // have.
  int Possible(Term a, Term b) {
    if (a == b) return kEqual;
    const auto x = terms_.Value(a), y = terms_.Value(b);
    if (!IsFloat(terms_.dtype(a))) {
      if (terms_.dtype(a) == DType::kUInt64) return kOrdered;
      const auto &left = ValuesOf(a), &right = ValuesOf(b);
      if (!left || !right) return kOrdered;
      int found = 0;
      for (const int64_t one : *left) {
        for (const int64_t other : *right)
          found |= one < other ? kLess : one > other ? kGreater : kEqual;
      }
      return found;
    }
    if (x && y) return x->f < y->f ? kLess : x->f > y->f ? kGreater : kEqual;
    if (x || (!y && a == winner_)) return Turned(PossibleBeside(b, a));
    if (y || b == winner_) return PossibleBeside(a, b);
    return kOrdered;
  }
  // The same of a term with a constant or the winner.
  int PossibleBeside(Term a, Term b) {
    // Nothing that is inferior lies beyond the winner.
    const int inferior = largest_ ? kLess : kGreater;
    const double worst = largest_ ? -INFINITY : INFINITY;
    if (const auto value = terms_.Value(b)) {
      int possible = kOrdered;
      if (value->f == INFINITY) possible = kLess | kEqual;
      if (value->f == -INFINITY) possible = kGreater | kEqual;
      // The winner exceeds another where it is not the first.
      if (value->f == worst && a == winner_ && !is_nan_ && rank_.at(a) > 0)
        possible &= ~kEqual;
      return possible;
    }
    const auto found = rank_.find(a);
    if (is_nan_ || found == rank_.end()) return kOrdered;
    return found->second < rank_.at(winner_) ? inferior : inferior | kEqual;
  }

  Term Compared(int outcomes, Term a, Term b) {
    const auto key = std::make_tuple(outcomes, a, b);
    const auto found = compared_.find(key);
    if (found != compared_.end()) return found->second;
    return compared_[key] = ComputeCompared(outcomes, a, b);
  }
  Term ComputeCompared(int outcomes, Term a, Term b) {
    const int possible = Possible(a, b);
    const auto is_fixed = [&](Term term) {
      return terms_.Value(term) || term == winner_;
    };
    for (const bool turned : {false, true}) {
      const TermNode node = terms_.node(turned ? b : a);
      const Term other = turned ? a : b;
      if (!IsOp(node, Op::kSelect) || !is_fixed(other) ||
          (possible & (possible - 1)) == 0)
        continue;
      const int of = turned ? Turned(outcomes) : outcomes;
      return If(node.operands[0], Compared(of, node.operands[1], other),
                Compared(of, node.operands[2], other));
    }
    const Term unordered = If(IsNan(a), Bool(true), IsNan(b));
    return If(unordered, Bool((outcomes & kUnordered) != 0),
              Decided(outcomes & possible, possible, a, b));
  }
  // By two comparisons at most.
  Term Decided(int outcomes, int possible, Term a, Term b) {
    if (outcomes == 0 || outcomes == possible) return Bool(outcomes != 0);
    if (a > b) return Decided(Turned(outcomes), Turned(possible), b, a);
    const auto atom = [&](Op op) {
      return terms_.Apply(op, DType::kBool, terms_.dtype(a), {a, b});
    };
    if ((possible & kEqual) == 0)
      return If(atom(Op::kLt), Bool((outcomes & kLess) != 0),
                Bool((outcomes & kGreater) != 0));
    const Term unequal = possible == kOrdered
                             ? If(atom(Op::kLt), Bool((outcomes & kLess) != 0),
                                  Bool((outcomes & kGreater) != 0))
                             : Bool((outcomes & (kLess | kGreater)) != 0);
    return If(atom(Op::kEq), Bool((outcomes & kEqual) != 0), unequal);
  }

  // All that an integer can be, if these are constants.
  const std::optional<std::set<int64_t>>& ValuesOf(Term term) {
    const auto found = values_.find(term);
    if (found != values_.end()) return found->second;
    const TermNode node = terms_.node(term);
    std::optional<std::set<int64_t>> values;
    if (node.kind == TermKind::kConst) {
      values = {node.value.i};
    } else if (IsOp(node, Op::kSelect)) {
      values = ValuesOf(node.operands[1]);
      const auto& others = ValuesOf(node.operands[2]);
      if (values && others) {
        values->insert(others->begin(), others->end());
      } else {
        values = std::nullopt;
      }
    }
    return values_[term] = std::move(values);
  }

  Terms& terms_;
  const std::map<Term, int>& rank_;
  const Term winner_;
  const bool is_nan_, largest_, either_;
  std::map<Term, Term> known_, nans_;
  std::map<std::tuple<Term, Term, Term>, Term> ifs_;
  std::map<std::tuple<int, Term, Term>, Term> compared_;
  std::map<Term, std::optional<std::set<int64_t>>> values_;
};

// The floats that a term reads.
void CollectInputs(const Terms& terms, Term term, std::set<Term>& seen,
                   std::set<Term>& inputs) {
  std::vector<Term> rest = {term};
  while (!rest.empty()) {
    const Term next = rest.back();
    rest.pop_back();
    if (!seen.insert(next).second) continue;
    const TermNode& node = terms.node(next);
    if (node.kind == TermKind::kInput && IsFloat(node.dtype))
      inputs.insert(next);
    rest.insert(rest.end(), node.operands.begin(), node.operands.end());
  }
}

}  // namespace

bool SameWhicheverWins(Terms& terms, Term a, Term b) {
  constexpr size_t kMostInputs = 128;
  std::set<Term> seen, inputs;
  CollectInputs(terms, a, seen, inputs), CollectInputs(terms, b, seen, inputs);
  if (inputs.empty() || inputs.size() > kMostInputs) return false;
  std::map<Term, int> rank;
  for (const Term input : inputs) {
    rank[input] = static_cast<int>(rank.size());
    if (terms.dtype(input) != terms.dtype(*inputs.begin())) return false;
  }
  for (const bool largest : {true, false}) {
    bool same = true;
    for (auto winner = inputs.begin(); winner != inputs.end() && same;
         ++winner) {
      for (const bool is_nan : {false, true}) {
        bool proved = false;
        for (const bool either : {false, true}) {
          OneCase one(terms, rank, *winner, is_nan, largest, either);
          proved = proved || one.Of(a) == one.Of(b);
        }
        same = same && proved;
      }
    }
    if (same) return true;
  }
  return false;
}

}  // namespace tilewright::measure

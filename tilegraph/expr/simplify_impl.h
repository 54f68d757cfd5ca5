// The parts of the simplifier: linear_form.cc has the arithmetic of linear
// forms and digits, simplify_conditions.cc comparisons and logic, simplify.cc
// the other rules over trees.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_SIMPLIFY_IMPL_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_SIMPLIFY_IMPL_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/interval.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::simplify_internal {

struct ExprHash {
  size_t operator()(const Expr& e) const { return e.hash(); }
};

// A total order over trees that does not depend on addresses: variables by id
// first, then by structure.
int CompareExprs(const Expr& a, const Expr& b);

// a + scale · b. Wraps like the integers it stands for.
LinearForm AddScaled(const LinearForm& a, const LinearForm& b, int64_t scale);
LinearForm Scaled(const LinearForm& a, int64_t scale);
LinearForm SingleTerm(Expr term);
// The expression if the form is exactly 1 · term + 0, else null.
const Expr* AsSingleTerm(const LinearForm& form);

inline bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }
inline bool IsTrue(const Expr& e) {
  return e.dtype() == DType::kBool && e.IsIntConst(1);
}
inline bool IsFalse(const Expr& e) {
  return e.dtype() == DType::kBool && e.IsIntConst(0);
}
// The outcome if the ranges of the two sides decide it.
std::optional<bool> DecideByRanges(Op op, Interval a, Interval b);
// `e` itself if the operands are its own.
Expr RebuildWith(const Expr& e, std::vector<Expr> operands);

struct QuotientRemainder {
  LinearForm quotient;
  LinearForm remainder;
};

// One run over one expression: results are remembered by subtree, so shared
// subtrees cost once.
class Simplifier {
 public:
  explicit Simplifier(const RangeOf& ranges) : ranges_(ranges) {}

  Expr Run(const Expr& e);
  // REQUIRES: e is i64.
  LinearForm Linear(const Expr& e);
  // Range of any integer or bool expression.
  Interval RangeOfTree(const Expr& e);
  Interval RangeOfForm(const LinearForm& form);

 private:
  // tree -> linear form
  LinearForm LinearOfNode(const Expr& e);
  // form.ToExpr(), remembering that Linear gives the form back.
  Expr TreeOf(const LinearForm& form);
  LinearForm MinMax(Op op, const Expr& a, const Expr& b);
  // Digits: form floordiv and mod a positive constant.
  QuotientRemainder DivMod(const LinearForm& form, int64_t divisor);
  QuotientRemainder Irreducible(LinearForm form, int64_t divisor);
  // Joins c·k·floordiv(x, c) + k·mod(x, c) into k·x.
  LinearForm JoinDigits(LinearForm form);
  bool JoinOnePair(LinearForm& form);
  // False if the sum could leave int64 because it holds unbounded data (a
  // load); variables are trusted to be sane.
  bool MayWrap(const LinearForm& form);

  // trees that are not i64
  Expr SimplifyNode(const Expr& e);
  Expr Compare(const Expr& e);
  Expr CompareForms(Op op, const LinearForm& difference);
  Expr LessThan(LinearForm form, int64_t bound);
  Expr Junction(const Expr& e);
  Expr Not(const Expr& e, const Expr& operand);
  Interval RangeOfNode(const Expr& e);

  const RangeOf& ranges_;
  std::unordered_map<Expr, Expr, ExprHash> done_;
  std::unordered_map<Expr, LinearForm, ExprHash> linear_;
  std::unordered_map<Expr, Interval, ExprHash> interval_;
};

}  // namespace tilewright::simplify_internal

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_SIMPLIFY_IMPL_H_

#include "backends/lowering/tile/decided_at.h"

#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/interval.h"
#include "tilegraph/expr/non_negative.h"

namespace tilewright::lowering {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

}  // namespace

std::optional<Decided> DecidedAt(int var, const Expr& condition,
                                 const Scope& scope,
                                 const std::set<int>& inner) {
  // Simplified first: 3·i + j < 3 with j < 3 is i < 1, also where j is a loop
  // further out.
  std::optional<LinearForm> form =
      AsNonNegative(Simplify(condition, scope.ranges()), scope.ranges());
  if (!form.has_value()) return std::nullopt;
  const int64_t c = form->CoefficientOf(var);
  if (c == 0) return std::nullopt;
  LinearForm rest = *form;
  rest.terms.clear();
  for (const auto& term : form->terms) {
    if (term.first.op() == Op::kVar && term.first.var_id() == var) continue;
    if (Mentions(term.first, var)) return std::nullopt;
    rest.terms.push_back(term);
  }
  // A bound that moves with a loop further out is no place to cut.
  bool moves = false;
  Visit(rest.ToExpr(), [&](const Expr& e) {
    moves |= e.op() == Op::kVar && inner.count(e.var_id()) == 0;
  });
  const std::optional<Range> r =
      moves ? std::nullopt : RangeOfExpr(rest.ToExpr(), scope.ranges());
  if (!r.has_value()) return std::nullopt;
  // c > 0: holds from ceil(-min / c) on, fails below ceil(-max / c). c < 0:
  // holds up to floor(min / -c), fails above floor(max / -c).
  if (c > 0)
    return Decided{true, CeilDivide(-r->min, c), CeilDivide(-r->max, c)};
  return Decided{false, FloorDivide(r->min, -c) + 1,
                 FloorDivide(r->max, -c) + 1};
}

}  // namespace tilewright::lowering

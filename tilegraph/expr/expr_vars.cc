#include "tilegraph/expr/expr_vars.h"

#include <algorithm>

namespace tilewright {

bool Mentions(const Expr& expr, int var) {
  bool found = false;
  Visit(expr, [&](const Expr& e) {
    found |= e.op() == Op::kVar && e.var_id() == var;
  });
  return found;
}

bool MentionsAny(const Expr& expr, const std::set<int>& vars) {
  bool found = false;
  Visit(expr, [&](const Expr& e) {
    found |= e.op() == Op::kVar && vars.count(e.var_id()) > 0;
  });
  return found;
}

std::set<int> VarsOf(const Expr& expr) {
  std::set<int> vars;
  Visit(expr, [&](const Expr& e) {
    if (e.op() == Op::kVar) vars.insert(e.var_id());
  });
  return vars;
}

bool HoldsLoad(const Expr& expr) {
  return expr.op() == Op::kLoad ||
         std::any_of(expr.operands().begin(), expr.operands().end(), HoldsLoad);
}

}  // namespace tilewright

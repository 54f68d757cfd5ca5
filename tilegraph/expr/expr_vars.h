// What an expression depends on.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_EXPR_VARS_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_EXPR_VARS_H_

#include <set>

#include "tilegraph/expr/expr.h"

namespace tilewright {

// Whether `var` occurs anywhere in it, indices of loads included.
bool Mentions(const Expr& expr, int var);
// Whether one of `vars` does.
bool MentionsAny(const Expr& expr, const std::set<int>& vars);

// All that occur in it.
std::set<int> VarsOf(const Expr& expr);

// Whether it reads a tensor.
bool HoldsLoad(const Expr& expr);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_EXPR_VARS_H_

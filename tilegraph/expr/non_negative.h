// Comparisons of integers in one form.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_NON_NEGATIVE_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_NON_NEGATIVE_H_

#include <optional>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright {

// A comparison (<, <=, >, >=) of i64 as `form` >= 0; nullopt for any other
// condition.
std::optional<LinearForm> AsNonNegative(const Expr& condition,
                                        const RangeOf& ranges);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_NON_NEGATIVE_H_

// The exponential that is 0 where it would be a denormal number.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_NORMAL_EXP_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_NORMAL_EXP_H_

#include "tilegraph/expr/expr.h"

namespace tilewright {

// e^x of a float32 or float64, but 0 for x below -87 or -708: beside a sum of
// at least 1, as in softmax, such a term is none. Scores masked by -100 make
// them, and cores of Intel's need a hundred cycles for each denormal number and
// for each product of one.
Expr NormalExp(const Expr& x);

// x, if `e` is e^x or NormalExp(x); else empty.
Expr ExponentOf(const Expr& e);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_NORMAL_EXP_H_

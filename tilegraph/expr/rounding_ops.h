// Which operations round their results.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_ROUNDING_OPS_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_ROUNDING_OPS_H_

#include "tilegraph/expr/expr.h"

namespace tilewright {

// Whether the result has no rounding of its own, whatever the operands. False
// for leaves and casts.
bool IsExactOp(Op op);

// Whether integers, small enough, give integers: exact operations, sums,
// products, casts and leaves.
bool IsRingOp(Op op);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_ROUNDING_OPS_H_

// Parts behind each other along one axis, as an expression: the inverse of
// AsConcatenation (tilegraph/analysis/access.h).
#ifndef TILEWRIGHT_TILEGRAPH_IR_JOIN_PARTS_H_
#define TILEWRIGHT_TILEGRAPH_IR_JOIN_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"

namespace tilewright {

// The element at `index` of the whole: a balanced tree of selects, so that many
// parts do not nest deeply. `offsets`: where each part begins, ascending from
// 0; REQUIRES: there are some. `load`: an element of a part, by its number.
Expr JoinParts(
    absl::Span<const int64_t> offsets, int axis, absl::Span<const Expr> index,
    const std::function<Expr(size_t part, std::vector<Expr> at)>& load);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_JOIN_PARTS_H_

// Tensors that are other tensors' memory, read at other indices: reshapes,
// transpositions, slices, what a padding's halo holds.
#ifndef TILEWRIGHT_TILEGRAPH_IR_LAYOUT_VIEW_H_
#define TILEWRIGHT_TILEGRAPH_IR_LAYOUT_VIEW_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {

// The layout in `source`'s buffer of a tensor of this shape whose element x is
// the source's element `index`(x); `index` is over Var(d), dimension d of the
// tensor. Paddings of the source stay paddings where a dimension is taken over
// up to its end. Nullopt if no sum of digits expresses it (a broadcast, a
// reversal, a block cut in two) or it reads what the source does not hold.
std::optional<Layout> ViewLayout(const Layout& source,
                                 absl::Span<const Expr> index,
                                 absl::Span<const int64_t> shape);

// The dense layout, without paddings, whose digits lie in the order of
// `layout`; nullopt if they do not cover the shape once.
std::optional<Layout> DenseInOrder(const Layout& layout);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_LAYOUT_VIEW_H_

// The body of a compute that others are inlined into.
#ifndef TILEWRIGHT_SKETCH_FUSED_INLINE_MAPS_H_
#define TILEWRIGHT_SKETCH_FUSED_INLINE_MAPS_H_

#include <set>

#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// The body of `id` with those of the computes among `inlined` that it loads, or
// that these load, in their place. REQUIRES: computes of one component.
Expr InlineMaps(const TensorGraph& graph, TensorId id,
                const std::set<TensorId>& inlined);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_INLINE_MAPS_H_

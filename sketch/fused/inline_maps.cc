#include "sketch/fused/inline_maps.h"

#include "tilegraph/expr/dtype.h"

namespace tilewright::sketch {

Expr InlineMaps(const TensorGraph& graph, TensorId id,
                const std::set<TensorId>& inlined) {
  return Rewrite(graph.tensor(id).compute.body[0], [&](const Expr& e) {
    if (e.op() != Op::kLoad || !inlined.count(e.source())) return Expr();
    const Expr value = InlineMaps(graph, e.source(), inlined);
    const DType dtype = graph.tensor(e.source()).dtype;
    return Substitute(value.dtype() == dtype ? value : Expr::Cast(dtype, value),
                      [&](int axis) { return e.operand(axis); });
  });
}

}  // namespace tilewright::sketch

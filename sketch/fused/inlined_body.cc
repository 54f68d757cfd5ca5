#include "sketch/fused/inlined_body.h"

#include "tilegraph/expr/dtype.h"

namespace tilewright::sketch {

Expr InlinedBody(const TensorGraph& graph, TensorId id,
                 const std::set<TensorId>& inlined) {
  return Rewrite(graph.tensor(id).compute.body[0], [&](const Expr& e) {
    if (e.op() != Op::kLoad || !inlined.count(e.source())) return Expr();
    const Expr value = InlinedBody(graph, e.source(), inlined);
    const DType dtype = graph.tensor(e.source()).dtype;
    return Substitute(value.dtype() == dtype ? value : Expr::Cast(dtype, value),
                      [&](int axis) { return e.operand(axis); });
  });
}

}  // namespace tilewright::sketch

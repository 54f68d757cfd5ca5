#include "tilegraph/tiling/align/contraction_axes.h"

#include <cstdint>

namespace tilewright {
namespace {

bool IsZero(const Expr& e) {
  if (e.op() != Op::kConst) return false;
  return IsFloat(e.dtype()) ? e.float_value() == 0 : e.int_value() == 0;
}

// The load behind casts and guards; empty if there is none.
Expr LoadOf(const Expr& factor) {
  if (factor.op() == Op::kLoad) return factor;
  if (factor.op() == Op::kCast) return LoadOf(factor.operand(0));
  if (factor.op() == Op::kSelect && IsZero(factor.operand(2)))
    return LoadOf(factor.operand(1));
  if (factor.op() == Op::kSelect && IsZero(factor.operand(1)))
    return LoadOf(factor.operand(2));
  return Expr();
}

// By axis: whether an index of the load moves with it.
std::vector<bool> AxesOf(const Expr& load, size_t axes) {
  std::vector<bool> moves(axes, false);
  for (const Expr& index : load.operands()) {
    Visit(index, [&](const Expr& e) {
      if (e.op() == Op::kVar) moves[e.var_id()] = true;
    });
  }
  return moves;
}

Expr Product(const Expr& body) {
  if (body.op() == Op::kCast) return Product(body.operand(0));
  return body.op() == Op::kMul ? body : Expr();
}

}  // namespace

std::optional<ContractionAxes> AsContraction(const TensorGraph& graph,
                                             TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  if (tensor.kind != TensorKind::kCompute || !compute.combiner ||
      compute.combiner->kind() != Combiner::Kind::kSum)
    return std::nullopt;
  const Expr product = Product(compute.body[0]);
  if (!product) return std::nullopt;
  ContractionAxes axes;
  axes.a = LoadOf(product.operand(0));
  axes.b = LoadOf(product.operand(1));
  if (!axes.a || !axes.b || axes.a.dtype() != axes.b.dtype())
    return std::nullopt;
  axes.dtype = axes.a.dtype();
  const size_t spatial = compute.axes.size();
  const size_t all = spatial + compute.reduce_axes.size();
  const std::vector<bool> in_a = AxesOf(axes.a, all);
  const std::vector<bool> in_b = AxesOf(axes.b, all);
  for (size_t axis = 0; axis < all; ++axis) {
    const Axis& of = axis < spatial ? compute.axes[axis]
                                    : compute.reduce_axes[axis - spatial];
    if (of.extent.value() == 1) continue;
    if (axis >= spatial) {
      if (!in_a[axis] || !in_b[axis]) return std::nullopt;
    } else if (in_a[axis] && in_b[axis]) {
      axes.batch.push_back(static_cast<int>(axis));
    } else if (in_a[axis]) {
      axes.rows.push_back(static_cast<int>(axis));
    } else if (in_b[axis]) {
      axes.columns.push_back(static_cast<int>(axis));
    }
  }
  if (axes.rows.empty() || axes.columns.empty()) return std::nullopt;
  return axes;
}

}  // namespace tilewright

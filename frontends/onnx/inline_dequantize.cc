#include "frontends/onnx/inline_dequantize.h"

#include <utility>
#include <vector>

#include "tilegraph/ir/graph_rewrite.h"

namespace tilewright {
namespace {

int64_t Points(const Tensor& tensor) {
  int64_t points = tensor.num_elements();
  for (const Axis& axis : tensor.compute.reduce_axes)
    points *= axis.extent.value();
  return points;
}

bool TakesIn(const Tensor& reader, const Tensor& dequantized) {
  return !reader.compute.combiner ||
         Points(reader) <= dequantized.num_elements();
}

// The body of `tensor` at these indices.
Expr ValueAt(const Tensor& tensor, absl::Span<const Expr> indices) {
  const Expr value = Substitute(tensor.compute.body[0],
                                [&](int axis) { return indices[axis]; });
  return value.dtype() == tensor.dtype ? value
                                       : Expr::Cast(tensor.dtype, value);
}

class Inliner {
 public:
  explicit Inliner(const TensorGraph& from) : from_(from) {}

  RewrittenGraph Run() {
    for (const Tensor& tensor : from_.tensors()) {
      if (tensor.kind != TensorKind::kCompute) {
        ids_.push_back(CopyTensor(tensor, ids_, to_));
        continue;
      }
      Compute compute = tensor.compute;
      for (Expr& body : compute.body) body = Body(tensor, body);
      ids_.push_back(to_.AddCompute(tensor.name, tensor.dtype,
                                    std::move(compute), tensor.hint));
    }
    return FinishRewrite(from_, std::move(to_), std::move(ids_));
  }

 private:
  Expr Body(const Tensor& reader, const Expr& body) const {
    return Rewrite(body, [&](const Expr& e) -> Expr {
      if (e.op() != Op::kLoad) return Expr();
      const TensorId id = ids_[e.source()];
      const Tensor& source = to_.tensor(id);
      if (source.hint.role() == ComputeRole::kDequantize &&
          TakesIn(reader, source))
        return ValueAt(source, e.operands());
      return Expr::Load(id, e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  }

  const TensorGraph& from_;
  TensorGraph to_;
  std::vector<TensorId> ids_;
};

}  // namespace

void InlineDequantize(ImportedModel& model) {
  bool any = false;
  for (const Tensor& tensor : model.graph.tensors())
    any |= tensor.hint.role() == ComputeRole::kDequantize;
  if (!any) return;
  RewrittenGraph inlined = Inliner(model.graph).Run();
  for (std::vector<Port>* ports : {&model.inputs, &model.outputs}) {
    for (Port& port : *ports) port.tensor = inlined.ids[port.tensor];
  }
  model.graph = std::move(inlined.graph);
}

}  // namespace tilewright

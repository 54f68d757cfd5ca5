#include "tilegraph/ir/graph_rewrite.h"

#include <utility>

namespace tilewright {

Expr WithSources(const Expr& body, absl::Span<const TensorId> ids) {
  return Rewrite(body, [&](const Expr& e) {
    if (e.op() != Op::kLoad) return Expr();
    return Expr::Load(ids[e.source()], e.dtype(),
                      {e.operands().begin(), e.operands().end()});
  });
}

TensorId CopyTensor(const Tensor& tensor, absl::Span<const TensorId> ids,
                    TensorGraph& graph) {
  if (tensor.kind == TensorKind::kPlaceholder)
    return graph.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
  if (tensor.kind == TensorKind::kConstant)
    return graph.AddConstant(tensor.name, tensor.value);
  Compute compute = tensor.compute;
  for (Expr& body : compute.body) body = WithSources(body, ids);
  return graph.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                          tensor.hint);
}

RewrittenGraph FinishRewrite(const TensorGraph& old, TensorGraph graph,
                             std::vector<TensorId> ids) {
  std::vector<TensorId> kept;
  for (const TensorId id : old.outputs()) kept.push_back(ids[id]);
  for (const Tensor& tensor : old.tensors()) {
    if (tensor.kind == TensorKind::kPlaceholder) kept.push_back(ids[tensor.id]);
  }
  RewrittenGraph result{Extract(graph, kept), {}};
  // Extract keeps names, and those are unique.
  for (const TensorId id : ids) {
    result.ids.push_back(
        id < 0 ? -1 : result.graph.Find(graph.tensor(id).name).value_or(-1));
  }
  std::vector<TensorId> outputs;
  for (const TensorId id : old.outputs()) outputs.push_back(result.ids[id]);
  result.graph.SetOutputs(std::move(outputs));
  return result;
}

}  // namespace tilewright

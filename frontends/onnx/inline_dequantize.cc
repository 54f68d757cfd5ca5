#include "frontends/onnx/inline_dequantize.h"

#include <map>
#include <utility>
#include <vector>

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

  TensorGraph Run() {
    for (const Tensor& tensor : from_.tensors()) {
      if (tensor.kind == TensorKind::kPlaceholder) {
        ids_[tensor.id] =
            to_.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
      } else if (tensor.kind == TensorKind::kConstant) {
        ids_[tensor.id] = to_.AddConstant(tensor.name, tensor.value);
      } else {
        Compute compute = tensor.compute;
        for (Expr& body : compute.body) body = Body(tensor, body);
        ids_[tensor.id] = to_.AddCompute(tensor.name, tensor.dtype,
                                         std::move(compute), tensor.hint);
      }
    }
    std::vector<TensorId> outputs;
    for (const TensorId id : from_.outputs()) outputs.push_back(ids_.at(id));
    to_.SetOutputs(outputs);
    return std::move(to_);
  }

 private:
  Expr Body(const Tensor& reader, const Expr& body) const {
    return Rewrite(body, [&](const Expr& e) -> Expr {
      if (e.op() != Op::kLoad) return Expr();
      const TensorId id = ids_.at(e.source());
      const Tensor& source = to_.tensor(id);
      if (source.hint == "dequantize" && TakesIn(reader, source))
        return ValueAt(source, e.operands());
      return Expr::Load(id, e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  }

  const TensorGraph& from_;
  TensorGraph to_;
  std::map<TensorId, TensorId> ids_;
};

}  // namespace

void InlineDequantize(ImportedModel& model) {
  bool any = false;
  for (const Tensor& tensor : model.graph.tensors())
    any |= tensor.hint == "dequantize";
  if (!any) return;
  const TensorGraph inlined = Inliner(model.graph).Run();
  // What nobody reads any more goes; inputs stay, read or not.
  std::vector<TensorId> kept(inlined.outputs().begin(),
                             inlined.outputs().end());
  for (const Port& input : model.inputs)
    kept.push_back(*inlined.Find(model.graph.tensor(input.tensor).name));
  TensorGraph graph = Extract(inlined, kept);
  const auto renamed = [&](TensorId id) {
    return *graph.Find(model.graph.tensor(id).name);
  };
  for (Port& port : model.inputs) port.tensor = renamed(port.tensor);
  std::vector<TensorId> outputs;
  for (Port& port : model.outputs) {
    port.tensor = renamed(port.tensor);
    outputs.push_back(port.tensor);
  }
  graph.SetOutputs(std::move(outputs));
  model.graph = std::move(graph);
}

}  // namespace tilewright

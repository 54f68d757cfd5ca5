#include "tilegraph/ir/tensor_graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright {
namespace {

std::vector<TensorId> LoadedBy(const Compute& compute) {
  std::vector<TensorId> loaded;
  for (const Expr& body : compute.body) {
    if (!body) continue;  // VerifyGraph refuses it
    Visit(body, [&](const Expr& node) {
      if (node.op() != Op::kLoad) return;
      if (std::find(loaded.begin(), loaded.end(), node.source()) ==
          loaded.end())
        loaded.push_back(node.source());
    });
  }
  return loaded;
}

}  // namespace

std::vector<int64_t> Tensor::static_shape() const {
  std::vector<int64_t> result;
  for (const Dim& dim : shape) result.push_back(dim.value());
  return result;
}

int64_t Tensor::num_elements() const {
  int64_t count = 1;
  for (const Dim& dim : shape) count *= dim.value();
  return count;
}

int64_t Tensor::num_bytes() const { return num_elements() * SizeBytes(dtype); }

std::string TensorGraph::UniqueName(std::string name) {
  if (name.empty()) name = "t";
  if (by_name_.count(name) == 0) return name;
  for (int& suffix = last_suffix_[name];;) {
    std::string candidate = absl::StrCat(name, "_", ++suffix);
    if (by_name_.count(candidate) == 0) return candidate;
  }
}

TensorId TensorGraph::Add(Tensor tensor) {
  tensor.id = size();
  tensor.name = UniqueName(std::move(tensor.name));
  by_name_.emplace(tensor.name, tensor.id);
  inputs_.push_back(LoadedBy(tensor.compute));
  consumers_.emplace_back();
  for (const TensorId input : inputs_.back()) {
    if (input >= 0 && input < tensor.id)
      consumers_[static_cast<size_t>(input)].push_back(tensor.id);
  }
  tensors_.push_back(std::move(tensor));
  return tensors_.back().id;
}

TensorId TensorGraph::AddPlaceholder(std::string name, DType dtype,
                                     std::vector<Dim> shape) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.kind = TensorKind::kPlaceholder;
  return Add(std::move(tensor));
}

TensorId TensorGraph::AddConstant(std::string name,
                                  std::shared_ptr<const HostTensor> value) {
  TW_CHECK(value != nullptr) << "constant " << name << " has no value";
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = value->dtype();
  tensor.shape.assign(value->shape().begin(), value->shape().end());
  tensor.kind = TensorKind::kConstant;
  tensor.value = std::move(value);
  return Add(std::move(tensor));
}

TensorId TensorGraph::AddConstant(std::string name, DType dtype,
                                  absl::Span<const int64_t> shape) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.kind = TensorKind::kConstant;
  return Add(std::move(tensor));
}

TensorId TensorGraph::AddCompute(std::string name, DType dtype, Compute compute,
                                 ComputeHint hint) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  for (const Axis& axis : compute.axes) tensor.shape.push_back(axis.extent);
  tensor.kind = TensorKind::kCompute;
  tensor.compute = std::move(compute);
  tensor.hint = std::move(hint);
  return Add(std::move(tensor));
}

std::optional<TensorId> TensorGraph::Find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

Expr TensorGraph::Load(TensorId id, std::vector<Expr> indices) const {
  TW_CHECK(id >= 0 && id < size()) << "no tensor " << id;
  return Expr::Load(id, tensors_[id].dtype, std::move(indices));
}

TensorGraph Extract(const TensorGraph& graph,
                    absl::Span<const TensorId> outputs) {
  std::vector<bool> needed(graph.size(), false);
  for (const TensorId id : outputs) needed[id] = true;
  for (TensorId id = graph.size() - 1; id >= 0; --id) {
    if (!needed[id]) continue;
    for (const TensorId input : graph.Inputs(id)) needed[input] = true;
  }

  TensorGraph result;
  std::vector<TensorId> renumbered(graph.size(), -1);
  for (const Tensor& tensor : graph.tensors()) {
    if (!needed[tensor.id]) continue;
    switch (tensor.kind) {
      case TensorKind::kPlaceholder:
        renumbered[tensor.id] =
            result.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
        break;
      case TensorKind::kConstant:
        renumbered[tensor.id] = result.AddConstant(tensor.name, tensor.value);
        break;
      case TensorKind::kCompute: {
        Compute compute = tensor.compute;
        for (Expr& body : compute.body) {
          body = Rewrite(body, [&](const Expr& node) {
            if (node.op() != Op::kLoad) return Expr();
            return Expr::Load(renumbered[node.source()], node.dtype(),
                              std::vector<Expr>(node.operands().begin(),
                                                node.operands().end()));
          });
        }
        renumbered[tensor.id] = result.AddCompute(
            tensor.name, tensor.dtype, std::move(compute), tensor.hint);
        break;
      }
    }
  }
  std::vector<TensorId> new_outputs;
  for (const TensorId id : outputs) new_outputs.push_back(renumbered[id]);
  result.SetOutputs(std::move(new_outputs));
  return result;
}

}  // namespace tilewright

#include "compiler/group_workload.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/access.h"
#include "tilegraph/operations.h"

namespace tilewright {
namespace {

// Tensors that members load and do not compute, in order of first appearance:
// the order must not depend on the model's numbering.
std::vector<TensorId> InputsInOrder(const TensorGraph& graph,
                                    const Group& group) {
  const std::set<TensorId> members(group.members.begin(), group.members.end());
  std::vector<TensorId> inputs;
  std::set<TensorId> seen;
  for (const TensorId member : group.members) {
    for (const TensorId input : graph.Inputs(member)) {
      if (!members.count(input) && seen.insert(input).second)
        inputs.push_back(input);
    }
  }
  return inputs;
}

// Whether `input` is no padding, or a kernel writes it, or it lies in a halo of
// zeros.
[[maybe_unused]] bool HoldsZeros(const TensorGraph& graph, const Plan& plan,
                                 TensorId input) {
  if (!AsZeroPadding(graph, input)) return true;
  for (const Group& group : plan.groups) {
    if (std::binary_search(group.members.begin(), group.members.end(), input))
      return true;
  }
  const auto view = plan.views.find(input);
  if (view == plan.views.end()) return false;
  const auto layout = plan.layouts.find(view->second);
  return layout != plan.layouts.end() &&
         layout->second.fill() == Layout::Fill::kZero;
}

Compute WithSources(Compute compute,
                    const std::map<TensorId, TensorId>& renamed) {
  for (Expr& body : compute.body) {
    body = Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return Expr();
      return Expr::Load(renamed.at(e.source()), e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  }
  return compute;
}

// What buffers are aligned to, and so parts of them that kernels get.
constexpr int64_t kAlignmentBytes = 64;

// Where a part of a larger buffer begins for the kernel.
int64_t FirstElement(const Layout& layout, DType dtype) {
  const int64_t unit = kAlignmentBytes / SizeBytes(dtype);
  return layout.base() / unit * unit;
}

}  // namespace

GroupWorkload MakeGroupWorkload(const TensorGraph& graph, const Plan& plan,
                                const Group& group) {
  GroupWorkload result;
  TensorGraph& out = result.workload.graph;
  std::map<TensorId, TensorId> renamed;
  const auto record = [&](TensorId model, TensorId local) {
    renamed[model] = local;
    result.model_tensor.push_back(model);
    result.offset_bytes.push_back(0);
  };
  const auto lay_out = [&](TensorId model) {
    const TensorId local = renamed.at(model);
    Layout layout = plan.layouts.at(model);
    const DType dtype = graph.tensor(model).dtype;
    if (!layout.is_dense()) {
      const int64_t first = FirstElement(layout, dtype);
      result.offset_bytes[local] = first * SizeBytes(dtype);
      layout = layout.From(first);
    }
    if (!layout.is_row_major())
      result.workload.layouts[local] = std::move(layout);
  };
  const std::vector<TensorId> inputs = InputsInOrder(graph, group);
  int names = 0;
  for (const TensorId input : inputs) {
    const Tensor& tensor = graph.tensor(input);
    if (tensor.kind == TensorKind::kConstant) continue;
    record(input, out.AddPlaceholder(absl::StrCat("i", names++), tensor.dtype,
                                     tensor.shape));
    lay_out(input);
    const auto known = plan.zeros.find(input);
    if (known == plan.zeros.end()) continue;
    TW_DCHECK(HoldsZeros(graph, plan, input)) << tensor.name;
    result.workload.zeros[renamed.at(input)] = known->second;
  }
  names = 0;
  for (const TensorId input : inputs) {
    const Tensor& tensor = graph.tensor(input);
    if (tensor.kind != TensorKind::kConstant) continue;
    record(input, out.AddConstant(absl::StrCat("c", names++), tensor.value));
  }
  names = 0;
  for (const TensorId member : group.members) {
    const Tensor& tensor = graph.tensor(member);
    record(member,
           out.AddCompute(absl::StrCat("t", names++), tensor.dtype,
                          WithSources(tensor.compute, renamed), tensor.hint));
  }
  std::vector<TensorId> outputs;
  for (const TensorId output : OutputsOf(group)) {
    outputs.push_back(renamed.at(output));
    lay_out(output);
  }
  out.SetOutputs(std::move(outputs));
  if (group.stages.empty()) return result;
  result.wishes.emplace();
  result.wishes->tile = group.tile;
  for (const Stage& stage : group.stages) {
    std::vector<TensorId>& local = result.workload.stages.emplace_back();
    for (const TensorId member : stage.members)
      local.push_back(renamed.at(member));
    result.wishes->stages.push_back(
        {plan.layouts.at(stage.members.back()), stage.reduce_step});
  }
  return result;
}

int64_t CountFlops(const TensorGraph& graph) {
  int64_t flops = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    int64_t elements = tensor.num_elements();
    for (const Axis& axis : tensor.compute.reduce_axes)
      elements *= axis.extent.value();
    flops += OperationsPerPoint(tensor.compute) * elements;
  }
  return flops;
}

int64_t CompulsoryBytes(const TensorGraph& graph) {
  std::set<TensorId> boundary(graph.outputs().begin(), graph.outputs().end());
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) boundary.insert(tensor.id);
  }
  int64_t bytes = 0;
  for (const TensorId id : boundary)
    bytes +=
        graph.tensor(id).num_elements() * SizeBytes(graph.tensor(id).dtype);
  return bytes;
}

}  // namespace tilewright

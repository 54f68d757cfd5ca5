#include "compiler/kernels/group_workload.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/plan/canonical_group.h"

namespace tilewright {
namespace {

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

BlockTile WithTensors(BlockTile block,
                      const std::map<TensorId, TensorId>& renamed) {
  std::map<TensorId, int64_t> padding;
  for (const auto& [tensor, elements] : block.row_padding)
    padding[renamed.at(tensor)] = elements;
  block.row_padding = std::move(padding);
  block.divisions.clear();
  return block;
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

}  // namespace

GroupWorkload MakeGroupWorkload(const TensorGraph& graph, const Plan& plan,
                                const Group& group) {
  CanonicalGroup canonical = Canonicalize(graph, plan, group);
  GroupWorkload result;
  TensorGraph& out = result.workload.graph;
  std::map<TensorId, TensorId> renamed;
  for (const TensorId id : canonical.tensors) {
    const int place = static_cast<int>(renamed.size());
    const Tensor& tensor = graph.tensor(id);
    std::string name = canonical.Name(place);
    if (place < canonical.arguments) {
      out.AddPlaceholder(std::move(name), tensor.dtype, tensor.shape);
      const auto known = plan.zeros.find(id);
      if (known != plan.zeros.end()) {
        TW_DCHECK(HoldsZeros(graph, plan, id)) << tensor.name;
        result.workload.zeros[place] = known->second;
      }
    } else if (place < canonical.arguments + canonical.constants) {
      out.AddConstant(std::move(name), tensor.value);
    } else {
      out.AddCompute(std::move(name), tensor.dtype,
                     WithSources(tensor.compute, renamed), tensor.hint);
    }
    renamed[id] = place;
    const auto offset = canonical.offset_bytes.find(id);
    result.offset_bytes.push_back(
        offset == canonical.offset_bytes.end() ? 0 : offset->second);
  }
  for (auto& [id, layout] : canonical.layouts)
    result.workload.layouts[renamed.at(id)] = std::move(layout);
  std::vector<TensorId> outputs;
  for (const TensorId output : OutputsOf(group))
    outputs.push_back(renamed.at(output));
  out.SetOutputs(std::move(outputs));
  result.model_tensor = std::move(canonical.tensors);
  result.is_fused = !group.stages.empty();
  if (group.tile_plan.block) {
    result.block = WithTensors(*group.tile_plan.block, renamed);
    return result;
  }
  if (group.stages.empty()) return result;
  result.wishes.emplace();
  const TilePlan& tiles = group.tile_plan;
  result.wishes->tile = tiles.tile;
  for (size_t s = 0; s < group.stages.size(); ++s) {
    const Stage& stage = group.stages[s];
    std::vector<TensorId>& local = result.workload.stages.emplace_back();
    for (const TensorId member : stage.members)
      local.push_back(renamed.at(member));
    // Which part of a larger buffer it is does not matter to the stage, so that
    // groups that differ in nothing else share a kernel.
    Layout layout = plan.layouts.at(stage.members.back());
    if (const auto offset = canonical.offset_bytes.find(stage.members.back());
        offset != canonical.offset_bytes.end() && offset->second > 0) {
      const DType dtype = graph.tensor(stage.members.back()).dtype;
      layout = layout.From(offset->second / SizeBytes(dtype));
    }
    result.wishes->stages.push_back(
        {std::move(layout),
         s < tiles.stages.size() ? tiles.stages[s].reduce_step : 0});
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
  for (const TensorId id : boundary) bytes += graph.tensor(id).num_bytes();
  return bytes;
}

}  // namespace tilewright

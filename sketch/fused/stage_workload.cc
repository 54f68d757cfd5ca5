#include "sketch/fused/stage_workload.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/region/region.h"

namespace tilewright::sketch {
namespace {

// The extents of every compute of the stage once its output is a box.
absl::StatusOr<std::map<TensorId, std::vector<int64_t>>> ExtentsOf(
    const TensorGraph& graph, const std::vector<TensorId>& members,
    const std::vector<int64_t>& box) {
  Region tile;
  for (const int64_t extent : box) {
    tile.emplace_back();
    tile.back().base = Expr::Int(0);
    tile.back().extent = extent;
  }
  const RangeOf no_ranges = [](int) -> std::optional<Range> {
    return std::nullopt;
  };
  TW_ASSIGN_OR_RETURN(
      const auto regions,
      Propagate(graph, {{members.back(), tile}}, members, {}, no_ranges));
  std::map<TensorId, std::vector<int64_t>> extents;
  for (const TensorId member : members) {
    const std::vector<int64_t> shape = graph.tensor(member).static_shape();
    const auto region = regions.find(member);
    std::vector<int64_t>& of = extents[member];
    for (size_t i = 0; i < shape.size(); ++i) {
      if (member == members.back()) {
        of.push_back(box[i]);
      } else if (region == regions.end()) {
        of.push_back(shape[i]);
      } else {
        const RegionDim& dim = region->second[i];
        of.push_back(std::min(shape[i], (dim.extent - 1) * dim.step + 1));
      }
    }
  }
  return extents;
}

// By tensor, the dimensions along which the stage's elements are others where
// the box lies elsewhere in the output: those that the box cuts, and what they
// are indices of.
std::map<TensorId, std::set<int>> MovingDims(
    const TensorGraph& graph, const std::vector<TensorId>& members,
    const std::vector<int64_t>& box) {
  std::map<TensorId, std::set<int>> moving;
  const TensorId output = members.back();
  for (size_t d = 0; d < box.size(); ++d) {
    if (box[d] < graph.tensor(output).shape[d].value())
      moving[output].insert(static_cast<int>(d));
  }
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    const std::set<int> axes = moving[*member];
    for (const Expr& body : graph.tensor(*member).compute.body) {
      Visit(body, [&](const Expr& load) {
        if (load.op() != Op::kLoad) return;
        for (size_t d = 0; d < load.operands().size(); ++d) {
          Visit(load.operand(static_cast<int>(d)), [&](const Expr& e) {
            if (e.op() == Op::kVar && axes.count(e.var_id()))
              moving[load.source()].insert(static_cast<int>(d));
          });
        }
      });
    }
  }
  return moving;
}

// The zeros of `id` that are known wherever the box lies.
KnownZeros ZerosOf(TensorId id, const std::map<TensorId, KnownZeros>& zeros,
                   const std::map<TensorId, std::set<int>>& moving) {
  const auto known = zeros.find(id);
  if (known == zeros.end()) return {};
  KnownZeros fixed = known->second;
  const auto dims = moving.find(id);
  if (dims == moving.end()) return fixed;
  for (const int d : dims->second) fixed.before[d] = fixed.after[d] = 0;
  return fixed;
}

}  // namespace

bool LeavesGroup(const TensorGraph& graph, TensorId id) {
  const absl::Span<const TensorId> outputs = graph.outputs();
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

absl::StatusOr<Workload> StageWorkload(const Workload& workload,
                                       const StagePlan& plan, size_t stage,
                                       const Layout& layout) {
  const TensorGraph& graph = workload.graph;
  const std::vector<TensorId>& members = plan.stages[stage].members;
  TW_ASSIGN_OR_RETURN(auto extents, ExtentsOf(graph, members, layout.shape()));
  const std::map<TensorId, std::set<int>> moving =
      MovingDims(graph, members, layout.shape());
  Workload result;
  std::map<TensorId, TensorId> renamed;
  const auto add_input = [&](TensorId id) {
    if (renamed.count(id)) return;
    const Tensor& tensor = graph.tensor(id);
    if (tensor.kind == TensorKind::kConstant) {
      renamed[id] = result.graph.AddConstant(tensor.name, tensor.value);
      return;
    }
    renamed[id] =
        result.graph.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
    if (KnownZeros known = ZerosOf(id, plan.zeros, moving); !known.empty())
      result.zeros[renamed[id]] = std::move(known);
    if (tensor.kind == TensorKind::kPlaceholder || LeavesGroup(graph, id)) {
      result.layouts[renamed[id]] = workload.LayoutOf(id);
      return;
    }
    for (const StagePlan::Stage& other : plan.stages) {
      if (other.members.back() == id)
        result.layouts[renamed[id]] = other.layout;
    }
  };
  for (const TensorId member : members) {
    for (const TensorId input : graph.Inputs(member)) {
      if (!std::binary_search(members.begin(), members.end(), input))
        add_input(input);
    }
  }
  for (const TensorId member : members) {
    const Tensor& tensor = graph.tensor(member);
    Compute compute = tensor.compute;
    for (size_t i = 0; i < compute.axes.size(); ++i)
      compute.axes[i].extent = Dim(extents[member][i]);
    for (Expr& body : compute.body) {
      body = Rewrite(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad) return Expr();
        return Expr::Load(renamed.at(e.source()), e.dtype(),
                          {e.operands().begin(), e.operands().end()});
      });
    }
    renamed[member] = result.graph.AddCompute(tensor.name, tensor.dtype,
                                              std::move(compute), tensor.hint);
  }
  const TensorId output = renamed.at(members.back());
  result.graph.SetOutputs({output});
  result.layouts[output] = layout;
  return result;
}

}  // namespace tilewright::sketch

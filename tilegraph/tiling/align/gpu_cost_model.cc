#include "tilegraph/tiling/align/gpu_cost_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "tilegraph/tiling/group_signature.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {
namespace {

Subgraph PartOf(const TensorGraph& graph, const Group& group) {
  Subgraph part = TileGraph(graph, group.members).SubgraphOf(group.members);
  part.outputs = OutputsOf(group);
  return part;
}

// Equal for parts that differ in names alone. Tensors are told apart by their
// order in the part.
std::string SignatureOf(const TensorGraph& graph, const Subgraph& part) {
  std::string text;
  const auto name = [&](TensorId id) {
    const auto place = [&](const std::vector<TensorId>& list) {
      return std::lower_bound(list.begin(), list.end(), id) - list.begin();
    };
    if (std::binary_search(part.members.begin(), part.members.end(), id))
      return absl::StrCat("m", place(part.members));
    return absl::StrCat("i", place(part.inputs));
  };
  const auto add = [&](TensorId id) {
    const Tensor& tensor = graph.tensor(id);
    absl::StrAppend(&text, name(id), ":", ToAbsl(Name(tensor.dtype)), "[",
                    absl::StrJoin(tensor.static_shape(), ","), "]");
  };
  for (const TensorId id : part.inputs) add(id);
  for (const TensorId id : part.members) {
    add(id);
    text += ComputeSignature(graph.tensor(id).compute, name);
    text += ";";
  }
  for (const TensorId id : part.outputs) text += name(id);
  return text;
}

// Of an equal part: the same with this one's tensors.
void Rename(const Subgraph& part, GpuTilePlan& plan) {
  std::map<TensorId, TensorId> name;
  for (size_t i = 0; i < part.inputs.size(); ++i)
    name[plan.part.inputs[i]] = part.inputs[i];
  for (size_t i = 0; i < part.members.size(); ++i)
    name[plan.part.members[i]] = part.members[i];
  for (GpuMember& member : plan.members.members) {
    member.id = name.at(member.id);
    for (GpuLoad& load : member.loads) load.tensor = name.at(load.tensor);
  }
  for (GpuInput& input : plan.members.inputs) input.id = name.at(input.id);
  for (SharedOperand& operand : plan.shared)
    operand.tensor = name.at(operand.tensor);
  plan.part = part;
}

}  // namespace

absl::StatusOr<GpuTilePlan> GpuTilePlans::Of(const Group& group) {
  const Subgraph part = PartOf(graph_, group);
  const std::string signature = SignatureOf(graph_, part);
  auto found = known_.find(signature);
  if (found == known_.end()) {
    const TileGraph tiles(graph_, group.members);
    absl::StatusOr<std::vector<GpuTilePlan>> plans =
        TileForGpu(tiles, part, spec_, options_);
    found = known_
                .emplace(signature, plans.ok() ? absl::StatusOr<GpuTilePlan>(
                                                     std::move((*plans)[0]))
                                               : plans.status())
                .first;
  }
  TW_ASSIGN_OR_RETURN(GpuTilePlan plan, found->second);
  Rename(part, plan);
  return plan;
}

// What crosses several levels is counted at each: the innermost of those
// numbers holds the ones further out.
absl::StatusOr<std::vector<GroupCost>> GpuCostModel::BestFew(
    const Group& group, int /*count*/) const {
  TW_ASSIGN_OR_RETURN(const GpuTilePlan plan, plans_.Of(group));
  GroupCost cost;
  cost.tile = plan.tile;
  cost.tasks = static_cast<double>(plan.blocks());
  cost.flops = plan.cost.operations;
  cost.memory_bytes = plan.cost.dram_bytes;
  cost.shared_bytes = std::max(0.0, plan.cost.l2_bytes - plan.cost.dram_bytes);
  cost.private_bytes = plan.cost.shared_bytes;
  cost.scratch_bytes = plan.shared_bytes;
  cost.kept_bytes = static_cast<double>(plan.shared_bytes);
  cost.work_seconds = plan.cost.compute_seconds;
  cost.seconds = cost.core_seconds = cost.one_core_seconds = plan.cost.seconds;
  return std::vector<GroupCost>{std::move(cost)};
}

std::string GpuCostModel::Signature(const Group& group) const {
  return SignatureOf(graph_, PartOf(graph_, group));
}

}  // namespace tilewright

#include "tilegraph/tiling/align/gpu_cost_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "tilegraph/canonical_group.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {
namespace {

// Both in canonical order: of a group of equal key the same with this one's
// tensors.
void Rename(const std::vector<TensorId>& from, const std::vector<TensorId>& to,
            GpuTilePlan& plan) {
  std::map<TensorId, TensorId> name;
  for (size_t i = 0; i < from.size(); ++i) name[from[i]] = to[i];
  for (GpuMember& member : plan.members.members) {
    member.id = name.at(member.id);
    for (GpuLoad& load : member.loads) load.tensor = name.at(load.tensor);
  }
  for (GpuInput& input : plan.members.inputs) input.id = name.at(input.id);
  std::sort(plan.members.inputs.begin(), plan.members.inputs.end(),
            [](const GpuInput& a, const GpuInput& b) { return a.id < b.id; });
  for (SharedOperand& operand : plan.shared)
    operand.tensor = name.at(operand.tensor);
}

}  // namespace

absl::StatusOr<GpuTilePlan> GpuTilePlans::Of(const Group& group) {
  const CanonicalGroup canonical = Canonicalize(graph_, plan_, group);
  const KernelKey key = KernelKeyOf(graph_, plan_, group, canonical);
  const TileGraph tiles(graph_, group.members);
  Subgraph part = tiles.SubgraphOf(group.members);
  part.outputs = OutputsOf(group);
  auto found = known_.find(key);
  if (found == known_.end()) {
    absl::StatusOr<std::vector<GpuTilePlan>> plans =
        TileForGpu(tiles, part, spec_, options_);
    Known known{canonical.tensors,
                plans.ok() ? absl::StatusOr<GpuTilePlan>(std::move((*plans)[0]))
                           : plans.status()};
    found = known_.emplace(key, std::move(known)).first;
  }
  TW_ASSIGN_OR_RETURN(GpuTilePlan plan, found->second.plan);
  Rename(found->second.tensors, canonical.tensors, plan);
  plan.part = std::move(part);
  return plan;
}

absl::StatusOr<std::vector<GroupCost>> GpuCostModel::BestFew(
    const Group& group, int /*count*/) const {
  TW_ASSIGN_OR_RETURN(const GpuTilePlan plan, plans_.Of(group));
  GroupCost cost;
  cost.tile = plan.tile;
  cost.tasks = static_cast<double>(plan.blocks());
  cost.flops = plan.cost.operations;
  cost.memory_bytes = plan.cost.memory_bytes;
  cost.shared_bytes =
      std::max(0.0, plan.cost.near_bytes - plan.cost.memory_bytes);
  cost.private_bytes = plan.cost.shared_bytes;
  cost.scratch_bytes = plan.shared_bytes;
  cost.kept_bytes = static_cast<double>(plan.shared_bytes);
  cost.work_seconds = plan.cost.compute_seconds;
  cost.seconds = cost.core_seconds = cost.one_core_seconds = plan.cost.seconds;
  return std::vector<GroupCost>{std::move(cost)};
}

EstimateKey GpuCostModel::KeyOf(const Group& group) const {
  return {KernelKeyOf(graph_, plan_, group), {}, ""};
}

}  // namespace tilewright

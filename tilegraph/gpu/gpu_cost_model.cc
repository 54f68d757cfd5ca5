#include "tilegraph/gpu/gpu_cost_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "tilegraph/plan/canonical_group.h"
#include "tilegraph/traffic/tile_graph.h"

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

GpuTilePlans::GpuTilePlans(const TensorGraph& graph, const Plan& plan,
                           const DeviceSpec& spec,
                           const GpuTilingOptions& options)
    : graph_(graph),
      plan_(plan),
      spec_(spec),
      options_(options),
      levels_(*GpuLevelsOf(spec)) {}

EstimateKey GpuTilePlans::KeyOf(const Group& group) const {
  const CanonicalGroup canonical = Canonicalize(graph_, plan_, group);
  EstimateKey key{KernelKeyOf(graph_, plan_, group, canonical), {}, ""};
  for (const TensorId id : canonical.tensors)
    key.levels.push_back(&LevelBetweenKernels(graph_, id, levels_) !=
                         levels_.memory);
  return key;
}

absl::StatusOr<std::vector<GpuTilePlan>> GpuTilePlans::Of(const Group& group) {
  const std::vector<TensorId> tensors =
      Canonicalize(graph_, plan_, group).tensors;
  const TileGraph tiles(graph_, group.members);
  Subgraph part = tiles.SubgraphOf(group.members);
  part.outputs = OutputsOf(group);
  const EstimateKey key = KeyOf(group);
  auto found = known_.find(key);
  if (found == known_.end())
    found = known_
                .emplace(key, Known{tensors,
                                    TileForGpu(tiles, part, spec_, options_)})
                .first;
  absl::StatusOr<std::vector<GpuTilePlan>> plans = found->second.plans;
  if (!plans.ok()) return plans;
  for (GpuTilePlan& plan : *plans) {
    Rename(found->second.tensors, tensors, plan);
    plan.part = part;
  }
  return plans;
}

absl::StatusOr<std::vector<GroupCost>> GpuCostModel::BestFew(const Group& group,
                                                             int count) const {
  TW_ASSIGN_OR_RETURN(const std::vector<GpuTilePlan> plans, plans_.Of(group));
  std::vector<GroupCost> costs;
  for (const GpuTilePlan& plan : plans) {
    if (static_cast<int>(costs.size()) == count) break;
    GroupCost& cost = costs.emplace_back();
    cost.plan.tile = plan.tile;
    cost.tasks = static_cast<double>(plan.blocks());
    cost.flops = plan.cost.operations;
    cost.memory_bytes = plan.cost.memory_bytes;
    cost.shared_bytes =
        std::max(0.0, plan.cost.near_bytes - plan.cost.memory_bytes);
    cost.private_bytes = plan.cost.shared_bytes;
    cost.scratch_bytes = plan.shared_bytes;
    cost.kept_bytes = static_cast<double>(plan.shared_bytes);
    cost.work_seconds = plan.cost.compute_seconds;
    cost.seconds = cost.core_seconds = cost.one_core_seconds =
        plan.cost.seconds;
  }
  return costs;
}

absl::StatusOr<GroupCost> GpuCostModel::CostOf(const Group& group) const {
  TW_ASSIGN_OR_RETURN(std::vector<GroupCost> costs, BestFew(group, 1));
  return std::move(costs.front());
}

}  // namespace tilewright

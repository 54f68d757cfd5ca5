#include "tilegraph/gpu/gpu_cost_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/plan/canonical_group.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {
namespace {

void Rename(const std::map<TensorId, TensorId>& name, BlockTile& block) {
  std::map<TensorId, int64_t> padding;
  for (const auto& [tensor, elements] : block.row_padding)
    padding[name.at(tensor)] = elements;
  block.row_padding = std::move(padding);
}

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
  for (GpuDifference& difference : plan.differences)
    if (difference.tensor >= 0) difference.tensor = name.at(difference.tensor);
  if (plan.block) Rename(name, *plan.block);
}

}  // namespace

GpuTilePlans::GpuTilePlans(const TensorGraph& graph, const Plan& plan,
                           const DeviceSpec& spec,
                           const GpuTilingOptions& options,
                           GenerateBlock generate)
    : graph_(graph),
      plan_(plan),
      spec_(spec),
      options_(options),
      generate_(std::move(generate)),
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
  if (found == known_.end()) {
    Known known{tensors, TileForGpu(tiles, part, spec_, options_)};
    if (generate_ && known.plans.ok()) Generate(group, tiles, part, known);
    found = known_.emplace(key, std::move(known)).first;
  }
  absl::StatusOr<std::vector<GpuTilePlan>> plans = found->second.plans;
  if (!plans.ok()) return plans;
  for (GpuTilePlan& plan : *plans) {
    Rename(found->second.tensors, tensors, plan);
    plan.part = part;
  }
  return plans;
}

void GpuTilePlans::Generate(const Group& group, const TileGraph& tiles,
                            const Subgraph& part, Known& known) {
  GpuTileEvaluator evaluator(tiles, part, spec_, options_.use);
  std::vector<GpuTilePlan> made;
  GpuRefusal refusal;
  double best = std::numeric_limits<double>::infinity();
  for (const GpuTilePlan& planned : *known.plans) {
    if (best <= planned.cost.seconds) break;
    if (!planned.block) continue;
    Group in_tiles = group;
    in_tiles.tile_plan.tile = planned.tile;
    in_tiles.tile_plan.block = planned.block;
    const absl::StatusOr<GeneratedBlock> block = generate_(in_tiles, plan_);
    absl::StatusOr<GpuTilePlan> plan =
        block.ok() ? evaluator.AsGenerated(*block)
                   : absl::StatusOr<GpuTilePlan>(block.status());
    if (!plan.ok()) {
      if (refusal.why.ok())
        refusal = {plan.status(), planned.cost.seconds, *planned.block};
      continue;
    }
    plan->block = planned.block;
    plan->differences = Differences(planned, *plan);
    if (plan->tile == planned.tile) plan->remaps = planned.remaps;
    best = std::min(best, plan->cost.seconds);
    made.push_back(*std::move(plan));
  }
  if (made.empty()) {
    if (refusal.why.ok())
      refusal.why = absl::FailedPreconditionError("no tile is one of threads");
    known.plans = refusal.why;
    known.refusal = std::move(refusal);
    return;
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const GpuTilePlan& a, const GpuTilePlan& b) {
                     return a.cost.seconds < b.cost.seconds;
                   });
  known.plans = std::move(made);
}

std::optional<GpuRefusal> GpuTilePlans::RefusalOf(const Group& group) const {
  const auto known = known_.find(KeyOf(group));
  if (known == known_.end() || !known->second.refusal) return std::nullopt;
  GpuRefusal refusal = *known->second.refusal;
  const std::vector<TensorId> tensors =
      Canonicalize(graph_, plan_, group).tensors;
  std::map<TensorId, TensorId> name;
  for (size_t i = 0; i < tensors.size(); ++i)
    name[known->second.tensors[i]] = tensors[i];
  Rename(name, refusal.block);
  return refusal;
}

GroupCost AsGroupCost(const GpuTilePlan& plan) {
  GroupCost cost;
  cost.plan.tile = plan.tile;
  cost.plan.block = plan.block;
  cost.plan.generated = plan.generated;
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
  return cost;
}

absl::StatusOr<std::vector<GroupCost>> GpuCostModel::BestFew(const Group& group,
                                                             int count) const {
  TW_ASSIGN_OR_RETURN(const std::vector<GpuTilePlan> plans, plans_.Of(group));
  std::vector<GroupCost> costs;
  for (const GpuTilePlan& plan : plans) {
    if (static_cast<int>(costs.size()) == count) break;
    costs.push_back(AsGroupCost(plan));
  }
  return costs;
}

absl::StatusOr<GroupCost> GpuCostModel::CostOf(const Group& group) const {
  TW_ASSIGN_OR_RETURN(std::vector<GroupCost> costs, BestFew(group, 1));
  return std::move(costs.front());
}

}  // namespace tilewright

#include "tilegraph/gpu/gpu_cost_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/parallel_for.h"
#include "base/status_macros.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {
namespace {

void Rename(const std::map<TensorId, TensorId>& name, BlockTile& block) {
  std::map<TensorId, int64_t> padding;
  for (const auto& [tensor, elements] : block.row_padding)
    padding[name.at(tensor)] = elements;
  block.row_padding = std::move(padding);
}

void Rename(const std::map<TensorId, TensorId>& name,
            std::map<TensorId, double>& values) {
  std::map<TensorId, double> renamed;
  for (const auto& [tensor, value] : values) renamed[name.at(tensor)] = value;
  values = std::move(renamed);
}

void Rename(const std::map<TensorId, TensorId>& name, GpuTilePlan& plan) {
  for (GpuTraffic& traffic : plan.cost.traffic)
    traffic.tensor = name.at(traffic.tensor);
  Rename(name, plan.cost.requested_sectors);
  Rename(name, plan.cost.requested_turns);
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

// Both in canonical order: of a group of equal key the same with this one's
// tensors.
std::map<TensorId, TensorId> Names(const std::vector<TensorId>& from,
                                   const std::vector<TensorId>& to) {
  std::map<TensorId, TensorId> name;
  for (size_t i = 0; i < from.size(); ++i) name[from[i]] = to[i];
  return name;
}

// What is decided of a tile, but for rows in the scratchpad, which follow;
// empty if it is none of threads.
std::string DecisionsOf(const std::optional<BlockTile>& block) {
  if (!block) return "";
  BlockTile decided = *block;
  decided.row_padding.clear();
  return absl::StrCat("[", absl::StrJoin(decided.tile, ", "), "], ",
                      decided.ToString());
}

bool Cheaper(const GpuTilePlan& a, const GpuTilePlan& b) {
  return a.cost.seconds < b.cost.seconds;
}

}  // namespace

GpuTilePlans::GpuTilePlans(const TensorGraph& graph, const Plan& plan,
                           const DeviceSpec& spec,
                           const GpuTilingOptions& options,
                           GenerateBlock generate, int threads)
    : graph_(graph),
      plan_(plan),
      spec_(spec),
      options_(options),
      generate_(std::move(generate)),
      threads_(threads),
      levels_(*GpuLevelsOf(spec)),
      known_(std::make_shared<std::map<EstimateKey, Known>>()) {}

GpuTilePlans::GpuTilePlans(const GpuTilePlans& other, const Plan& plan)
    : graph_(other.graph_),
      plan_(plan),
      spec_(other.spec_),
      options_(other.options_),
      generate_(other.generate_),
      threads_(other.threads_),
      levels_(other.levels_),
      known_(other.known_) {}

EstimateKey GpuTilePlans::KeyOf(const Group& group,
                                const CanonicalGroup& canonical) const {
  EstimateKey key{KernelKeyOf(graph_, plan_, group, canonical), {}, ""};
  for (const TensorId id : canonical.tensors)
    key.levels.push_back(&LevelBetweenKernels(graph_, id, levels_) !=
                         levels_.memory);
  return key;
}

EstimateKey GpuTilePlans::KeyOf(const Group& group) const {
  EstimateKey key = KeyOf(group, Canonicalize(graph_, plan_, group));
  key.tiles = DecisionsOf(group.tile_plan.block);
  return key;
}

GpuTilePlans::Asked GpuTilePlans::Recall(const Group& group) {
  TileGraph tiles(graph_, group.members);
  Subgraph part = tiles.SubgraphOf(group.members);
  part.outputs = OutputsOf(group);
  CanonicalGroup canonical = Canonicalize(graph_, plan_, group);
  EstimateKey key = KeyOf(group, canonical);
  const auto known = known_->find(key);
  return {group,
          std::move(canonical.tensors),
          std::move(tiles),
          std::move(part),
          std::move(key),
          known == known_->end() ? nullptr : &known->second};
}

GpuTilePlans::Asked GpuTilePlans::Ask(const Group& group) {
  Asked asked = Recall(group);
  if (asked.known != nullptr) return asked;
  asked.known = &(*known_)[asked.key];
  PlanTiles(asked, options_.use);
  return asked;
}

void GpuTilePlans::PlanTiles(const Asked& asked, const GpuFeatures& use) {
  GpuTilingOptions options = options_;
  options.use = use;
  Known& known = *asked.known;
  known = {asked.tensors,
           TileForGpu(asked.tiles, asked.part, spec_, options),
           use,
           {}};
  if (known.planned.ok()) known.generated.resize(known.planned->size());
}

void GpuTilePlans::Prepare(absl::Span<const Group> groups) {
  std::vector<Asked> asked;
  for (const Group& group : groups) {
    Asked one = Recall(group);
    if (one.known != nullptr) continue;
    one.known = &(*known_)[one.key];  // equal ones that follow find it
    asked.push_back(std::move(one));
  }
  ParallelFor(static_cast<int64_t>(asked.size()), threads_, [&](int64_t i) {
    const Asked& one = asked[static_cast<size_t>(i)];
    PlanTiles(one, options_.use);
    if (generate_ && one.group.stages.empty()) GenerateBest(one).IgnoreError();
  });
}

bool GpuTilePlans::PlanWithLess(const Asked& asked) {
  Known& known = *asked.known;
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t registers = kNone, scratchpad_bytes = kNone;  // the least of them
  for (const GpuTilePlan& plan : *known.planned) {
    registers = std::min(registers, plan.registers_per_thread);
    scratchpad_bytes = std::min(scratchpad_bytes, plan.shared_bytes);
  }
  const ComputeUnit& unit = spec_.unit();
  GpuFeatures less = known.use;
  if (registers * unit.scratchpad_bytes_per_block() >=
      scratchpad_bytes * unit.registers_per_thread()) {
    less.registers = registers * 3 / 4;
  } else {
    less.scratchpad_bytes = scratchpad_bytes * 3 / 4;
  }
  Known before = known;
  PlanTiles(asked, less);
  if (known.planned.ok()) return true;
  known = std::move(before);
  return false;
}

void GpuTilePlans::Rename(const Asked& asked, GpuTilePlan& plan) {
  tilewright::Rename(Names(asked.known->tensors, asked.tensors), plan);
  plan.part = asked.part;
}

const absl::StatusOr<GpuTilePlan>& GpuTilePlans::Generate(const Asked& asked,
                                                          size_t tile) {
  Generation& generation = asked.known->generated[tile];
  if (!generation.made) Make(asked, tile);
  if (!generation.asked && generation.not_ahead) {
    GpuTilePlan& planned = (*asked.known->planned)[tile];
    planned.block->stages = 1;
    planned.block->step = planned.step;
  }
  generation.asked = true;
  return *generation.made;
}

void GpuTilePlans::GenerateFrom(const Asked& asked, size_t tile) {
  const std::vector<Generation>& generated = asked.known->generated;
  std::vector<size_t> tiles;
  for (;
       tile < generated.size() && tiles.size() < static_cast<size_t>(threads_);
       ++tile) {
    if (!generated[tile].made) tiles.push_back(tile);
  }
  ParallelFor(static_cast<int64_t>(tiles.size()), threads_,
              [&](int64_t i) { Make(asked, tiles[static_cast<size_t>(i)]); });
}

void GpuTilePlans::Make(const Asked& asked, size_t tile) const {
  Generation& generation = asked.known->generated[tile];
  GpuTilePlan planned = (*asked.known->planned)[tile];
  Rename(asked, planned);
  absl::StatusOr<GpuTilePlan> made = MakeGenerated(asked, planned);
  if (!made.ok() && planned.block && planned.block->stages > 1) {
    generation.not_ahead = true;
    planned.block->stages = 1;
    planned.block->step = planned.step;
    made = MakeGenerated(asked, planned);
  }
  if (made.ok()) {
    tilewright::Rename(Names(asked.tensors, asked.known->tensors), *made);
    made->part = (*asked.known->planned)[tile].part;
  }
  generation.made = std::move(made);
}

absl::StatusOr<GpuTilePlan> GpuTilePlans::MakeGenerated(
    const Asked& asked, const GpuTilePlan& planned) const {
  if (!planned.block)
    return absl::FailedPreconditionError("no tile is one of threads");
  Group in_tiles = asked.group;
  in_tiles.tile_plan.tile = planned.tile;
  in_tiles.tile_plan.block = planned.block;
  TW_ASSIGN_OR_RETURN(const GeneratedBlock block, generate_(in_tiles, plan_));
  GpuTileEvaluator evaluator(asked.tiles, asked.part, spec_, options_.use);
  TW_ASSIGN_OR_RETURN(GpuTilePlan plan, evaluator.AsGenerated(block));
  plan.block = planned.block;
  plan.differences = Differences(planned, plan);
  if (plan.tile == planned.tile) plan.remaps = planned.remaps;
  return plan;
}

absl::StatusOr<std::vector<GpuTilePlan>> GpuTilePlans::Planned(
    const Group& group) {
  const Asked asked = Ask(group);
  absl::StatusOr<std::vector<GpuTilePlan>> plans = asked.known->planned;
  if (!plans.ok()) return plans;
  for (GpuTilePlan& plan : *plans) Rename(asked, plan);
  return plans;
}

absl::StatusOr<std::vector<GpuTilePlan>> GpuTilePlans::GenerateBest(
    const Asked& asked) {
  TW_RETURN_IF_ERROR(asked.known->planned.status());
  std::vector<GpuTilePlan> made;
  absl::Status refused;  // the best of those that have no schedule
  do {
    // What costs more than the best as it came out is not asked for.
    double best = std::numeric_limits<double>::infinity();
    for (size_t tile = 0; tile < asked.known->generated.size(); ++tile) {
      if (best <= (*asked.known->planned)[tile].cost.seconds) break;
      const absl::StatusOr<GpuTilePlan>& plan = Generate(asked, tile);
      refused.Update(plan.status());
      if (!plan.ok()) continue;
      best = std::min(best, plan->cost.seconds);
      made.push_back(*plan);
    }
  } while (made.empty() && absl::IsResourceExhausted(refused) &&
           PlanWithLess(asked));
  if (made.empty()) return refused;
  std::stable_sort(made.begin(), made.end(), Cheaper);
  return made;
}

absl::StatusOr<std::vector<GpuTilePlan>> GpuTilePlans::Of(const Group& group) {
  const Asked asked = Ask(group);
  absl::StatusOr<std::vector<GpuTilePlan>> plans =
      generate_ ? GenerateBest(asked) : asked.known->planned;
  if (!plans.ok()) return plans;
  for (GpuTilePlan& plan : *plans) Rename(asked, plan);
  return plans;
}

absl::StatusOr<GpuTilePlan> GpuTilePlans::Generated(const Group& group) {
  const Asked asked = Ask(group);
  TW_RETURN_IF_ERROR(asked.known->planned.status());
  const std::string decisions = DecisionsOf(group.tile_plan.block);
  size_t tile = 0;
  while (DecisionsOf((*asked.known->planned)[tile].block) != decisions) {
    if (++tile == asked.known->generated.size())
      return absl::FailedPreconditionError("it needs more than there is");
  }
  if (!asked.known->generated[tile].made) GenerateFrom(asked, tile);
  TW_ASSIGN_OR_RETURN(GpuTilePlan plan, Generate(asked, tile));
  Rename(asked, plan);
  return plan;
}

std::optional<GpuTilePlan> GpuTilePlans::BestSoFar(const Group& group) {
  const Asked asked = Recall(group);
  if (asked.known == nullptr || !asked.known->planned.ok()) return std::nullopt;
  std::optional<GpuTilePlan> best;
  for (const Generation& one : asked.known->generated) {
    if (!one.asked || !one.made->ok()) continue;
    if (!best || Cheaper(**one.made, *best)) best = **one.made;
  }
  if (!best) best = asked.known->planned->front();
  Rename(asked, *best);
  return best;
}

std::optional<BlockTile> GpuTilePlans::RefusedBlock(const Group& group) {
  const Asked asked = Recall(group);
  if (asked.known == nullptr || !asked.known->planned.ok()) return std::nullopt;
  const auto& generated = asked.known->generated;
  const bool all = std::all_of(
      generated.begin(), generated.end(),
      [](const Generation& one) { return one.asked && !one.made->ok(); });
  if (!all) return std::nullopt;
  GpuTilePlan best = asked.known->planned->front();
  Rename(asked, best);
  return best.block;
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
  TW_ASSIGN_OR_RETURN(
      const std::vector<GpuTilePlan> plans,
      group.stages.empty() ? plans_.Of(group) : plans_.Planned(group));
  std::vector<GroupCost> costs;
  for (const GpuTilePlan& plan : plans) {
    if (static_cast<int>(costs.size()) == count) break;
    costs.push_back(AsGroupCost(plan));
  }
  return costs;
}

absl::StatusOr<GroupCost> GpuCostModel::CostOf(const Group& group) const {
  TW_ASSIGN_OR_RETURN(const GpuTilePlan plan, plans_.Generated(group));
  return AsGroupCost(plan);
}

}  // namespace tilewright

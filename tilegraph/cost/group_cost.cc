#include "tilegraph/cost/group_cost.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/cost/rank_costs.h"
#include "tilegraph/cost/search_tiles.h"
#include "tilegraph/cost/stage_rules.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/scratch_layout.h"
#include "tilegraph/plan/task_steps.h"
#include "tilegraph/traffic/neighbour_tiles.h"

namespace tilewright {
namespace {

// Rules of the search, not properties of a machine. Blocks are tried if what a
// task keeps is more than this share of what fits: below, tiles are as large as
// they want to be.
constexpr double kRoomy = 0.5;
// Tiles in a row that are no better end a search.
constexpr int kPatience = 24;

std::vector<TensorId> Computes(const TensorGraph& graph) {
  std::vector<TensorId> computes;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) computes.push_back(tensor.id);
  }
  return computes;
}

// Input regions that change with every task, of one task or block.
double MovingBytes(const TileWork& tile,
                   absl::Span<const int64_t> input_bytes) {
  double bytes = 0;
  for (size_t i = 0; i < tile.inputs.size(); ++i) {
    const auto& varies = tile.inputs[i].varies;
    if (std::find(varies.begin(), varies.end(), true) != varies.end())
      bytes += static_cast<double>(input_bytes[i]);
  }
  return bytes;
}

// The extents of other stages that each block needs; as much as a tile does
// where all of those are computed before the blocks.
ReduceSteps StepsOf(const TensorGraph& graph, const Group& group) {
  const bool any = std::any_of(
      group.tile_plan.stages.begin(), group.tile_plan.stages.end(),
      [](const StageDecision& stage) { return stage.in_blocks_of >= 0; });
  return any ? ReduceStepsOf(graph, group) : ReduceSteps();
}

std::vector<std::vector<TensorId>> MembersByStage(const Group& group) {
  std::vector<std::vector<TensorId>> members;
  for (const Stage& stage : group.stages) members.push_back(stage.members);
  return members;
}

void AddStage(StageFeatures stage, StageFeatures& sum) {
  if (sum.computes.empty()) {
    sum = std::move(stage);
    return;
  }
  std::move(stage.computes.begin(), stage.computes.end(),
            std::back_inserter(sum.computes));
  for (size_t i = 0; i < stage.levels.size(); ++i)
    sum.levels[i] += stage.levels[i];
}

std::vector<int64_t> TaskOf(const TilePlan& plan) {
  std::vector<int64_t> task = plan.tile;
  if (plan.steps) task[plan.steps->axis] *= plan.steps->tiles;
  return task;
}

}  // namespace

// Counts that all tiles of one group share.
struct GroupEvaluator::Prepared {
  Prepared(const GroupEvaluator& evaluator, const Group& own)
      : group(own),
        work(evaluator.graph_, own, evaluator.tensor_levels_, evaluator.spec_),
        traffic(evaluator.tile_graph_, own, evaluator.tensor_levels_,
                evaluator.levels_, evaluator.private_, evaluator.closest_,
                CostModelOf(evaluator.spec_), work.in_registers(),
                StepsOf(evaluator.graph_, own)),
        blocks(ReduceBlocksOf(evaluator.graph_, own)) {
    if (!own.stages.empty())
      neighbours.emplace(evaluator.graph_, MembersByStage(own));
  }

  const Group& group;
  const GroupWork work;
  GroupTraffic traffic;
  const int64_t blocks;                      // of the last stage's reduction
  std::optional<NeighbourTiles> neighbours;  // of a group with stages
};

GroupEvaluator::GroupEvaluator(const TensorGraph& graph, const Plan& plan,
                               const DeviceSpec& spec, CostKey key)
    : graph_(graph),
      spec_(spec),
      key_(key),
      tensor_levels_(graph, plan, spec),
      tile_graph_(graph, Computes(graph)),
      levels_(LevelsOfCore(spec)),
      private_(PrivateLevel(spec)),
      closest_(ClosestLevel(spec)),
      timer_(spec) {
  if (tensor_levels_.ForgetWithTime())
    tensor_levels_.SetGroupSeconds(GroupSeconds(plan));
}

absl::StatusOr<GroupCost> GroupEvaluator::Cost(Group group,
                                               const std::vector<int64_t>& tile,
                                               int64_t reduce_step) const {
  group.tile_plan = {};
  group.tile_plan.stages = ExpectedStages(graph_, group, reduce_step);
  Prepared prepared(*this, group);
  TW_ASSIGN_OR_RETURN(TilePlan plan, Expected(prepared, tile));
  return Cost(prepared, std::move(plan));
}

absl::StatusOr<GroupCost> GroupEvaluator::CostOf(const Group& group) const {
  TW_CHECK_EQ(group.tile_plan.stages.size(), group.stages.size());
  Prepared prepared(*this, group);
  return Cost(prepared, group.tile_plan);
}

absl::StatusOr<KernelFeatures> GroupEvaluator::Features(
    const Group& group) const {
  Prepared prepared(*this, group);
  GroupCost cost;
  cost.plan = group.tile_plan;
  return Features(prepared, cost);
}

absl::StatusOr<GroupCost> GroupEvaluator::Cost(Prepared& prepared,
                                               TilePlan plan) const {
  GroupCost cost;
  cost.plan = std::move(plan);
  TW_ASSIGN_OR_RETURN(const KernelFeatures features, Features(prepared, cost));
  AddTimes(prepared.group, features, cost);
  return cost;
}

absl::StatusOr<TilePlan> GroupEvaluator::Expected(
    Prepared& prepared, const std::vector<int64_t>& tile) const {
  const Group& group = prepared.group;
  TilePlan plan = group.tile_plan;
  plan.tile = tile;
  if (group.stages.empty() || prepared.blocks > 1) return plan;
  plan.steps = ChooseTaskSteps(
      graph_.tensor(group.output).static_shape(), tile,
      tensor_levels_.VectorDim(group.output), spec_.unit().cores(),
      [&](const auto& within, size_t axis, int64_t tiles) {
        return prepared.neighbours->Overlap(within, axis, tiles);
      });
  if (!plan.steps) return plan;
  TW_ASSIGN_OR_RETURN(const TileWork* const work,
                      prepared.traffic.WorkOf(tile));
  TW_ASSIGN_OR_RETURN(const TileWork* const task,
                      prepared.traffic.WorkOf(TaskOf(plan)));
  const std::vector<int> rolls =
      prepared.work.Rolls(*work, *task, plan.steps->tiles);
  const std::vector<TensorId> outputs = OutputsOf(group);
  for (size_t s = 0; s < rolls.size(); ++s) {
    // Only scratch is a ring.
    if (std::find(outputs.begin(), outputs.end(),
                  group.stages[s].members.back()) == outputs.end())
      plan.stages[s].rolls_along = rolls[s];
  }
  return plan;
}

absl::StatusOr<KernelFeatures> GroupEvaluator::Features(Prepared& prepared,
                                                        GroupCost& cost) const {
  const Group& group = prepared.group;
  const TilePlan& plan = cost.plan;
  TW_ASSIGN_OR_RETURN(const TileWork* const work,
                      prepared.traffic.WorkOf(plan.tile));
  cost.task = TaskOf(plan);
  TW_ASSIGN_OR_RETURN(const TileWork* const whole,
                      prepared.traffic.WorkOf(cost.task));
  cost.tasks = static_cast<double>(whole->tiles);
  GroupWork::Amount amount = prepared.work.Of(*work, *whole, plan);
  cost.flops = amount.flops;
  cost.recompute = amount.recompute;
  for (const TileOperand& operand : work->inside) {
    const auto kept = prepared.work.kept().find(operand.tensor);
    if (kept != prepared.work.kept().end()) {
      const int64_t decided_bytes = plan.stages[kept->second].scratch_bytes;
      cost.scratch_bytes +=
          decided_bytes > 0
              ? decided_bytes
              : ScratchBytes(tensor_levels_.LayoutOf(operand.tensor),
                             operand.extents,
                             SizeBytes(graph_.tensor(operand.tensor).dtype));
    }
    if (std::binary_search(group.side_outputs.begin(), group.side_outputs.end(),
                           operand.tensor))
      cost.covers &= operand.total_bytes == Bytes(operand.tensor);
  }
  KernelFeatures features;
  features.has_stages = !group.stages.empty();
  features.tasks = cost.tasks;
  features.tiles = static_cast<double>(work->tiles);
  if (prepared.blocks > 1) {
    const int64_t sums_bytes = work->outputs[0].step_bytes;
    cost.scratch_bytes += sums_bytes;
    features.blocks = static_cast<double>(prepared.blocks);
    features.sums_bytes = static_cast<double>(sums_bytes);
  }
  TW_ASSIGN_OR_RETURN(const absl::Span<const int64_t> input_bytes,
                      prepared.traffic.InputBytes(plan.tile));
  cost.kept_bytes =
      static_cast<double>(cost.scratch_bytes) + MovingBytes(*work, input_bytes);
  cost.fits =
      group.stages.empty() || (cost.covers && cost.kept_bytes <= KeptRoom());
  TW_ASSIGN_OR_RETURN(
      GroupTraffic::ByStage bytes,
      prepared.traffic.Of(plan.tile, plan.steps ? plan.steps->axis : -1));
  AddFilterBytes(group, amount, bytes);
  AddBytes(bytes, cost);
  StageFeatures with_next;
  for (size_t stage = 0; stage < bytes.size(); ++stage) {
    AddStage({std::move(amount.computes[stage]), std::move(bytes[stage])},
             with_next);
    if (IsComputedWithNext(graph_, group, stage)) continue;
    features.stages.push_back(std::move(with_next));
    with_next = {};
  }
  return features;
}

// By Winograd, filters have (m + 2)^2 taps instead of 9.
void GroupEvaluator::AddFilterBytes(const Group& group,
                                    const GroupWork::Amount& amount,
                                    GroupTraffic::ByStage& bytes) const {
  double growth = 0;
  for (const ComputeFeatures& compute : amount.computes[0]) {
    const double taps = compute.winograd_m + 2;
    if (compute.kind == ArithmeticKind::kWinograd) growth = taps * taps / 9 - 1;
  }
  if (growth == 0) return;
  for (const TensorId input : group.inputs) {
    if (graph_.tensor(input).kind != TensorKind::kConstant) continue;
    for (size_t i = tensor_levels_.Of(input, group); i < bytes[0].size(); ++i)
      bytes[0][i].read += growth * Bytes(input);
  }
}

void GroupEvaluator::AddBytes(const GroupTraffic::ByStage& bytes,
                              GroupCost& cost) const {
  cost.levels.resize(bytes[0].size());
  for (const std::vector<LevelBytes>& stage : bytes) {
    for (size_t i = 0; i < stage.size(); ++i) cost.levels[i] += stage[i];
  }
  if (cost.levels.empty()) return;
  cost.memory_bytes = cost.levels[0].both();
  for (size_t i = 0; i < cost.levels.size(); ++i) {
    const int inner = static_cast<int>(i) + 1;
    if (inner == private_)
      cost.shared_bytes =
          std::max(0.0, cost.levels[i].both() - cost.memory_bytes);
    if (inner > private_) cost.private_bytes += cost.levels[i].both();
  }
}

double GroupEvaluator::Bytes(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  return static_cast<double>(tensor.num_bytes());
}

int64_t GroupEvaluator::Lanes() const {
  return std::max<int64_t>(1, spec_.unit().vector_bytes() / 4);
}

double GroupEvaluator::KeptRoom() const {
  return CostModelOf(spec_).planned_cache_share() *
         CapacityBytes(levels_[private_]);
}

absl::StatusOr<std::vector<GroupCost>> GroupEvaluator::SearchFor(
    Group group, int64_t reduce_step) const {
  const std::vector<int64_t> shape = graph_.tensor(group.output).static_shape();
  const int vector_dim = tensor_levels_.VectorDim(group.output);
  std::vector<std::vector<int64_t>> sizes;
  std::vector<int64_t> row;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool lanes = static_cast<int>(d) == vector_dim;
    sizes.push_back(lanes                  ? DividingSizes(shape[d], Lanes())
                    : group.stages.empty() ? DividingSizes(shape[d], 1)
                                           : RowSizes(shape[d]));
    row.push_back(lanes ? shape[d] : sizes.back().front());
  }
  group.tile_plan = {};
  group.tile_plan.stages = ExpectedStages(graph_, group, reduce_step);
  Prepared prepared(*this, group);
  std::vector<GroupCost> costs;
  SearchTilesOptions search;
  search.patience = kPatience;
  TW_RETURN_IF_ERROR(SearchTiles(
      sizes, {shape, row}, search,
      [&](const std::vector<int64_t>& tile)
          -> absl::StatusOr<std::optional<TileRank>> {
        TW_ASSIGN_OR_RETURN(TilePlan plan, Expected(prepared, tile));
        TW_ASSIGN_OR_RETURN(GroupCost cost, Cost(prepared, std::move(plan)));
        costs.push_back(std::move(cost));
        return Rank(costs.back());
      }));
  std::stable_sort(
      costs.begin(), costs.end(),
      [](const GroupCost& a, const GroupCost& b) { return Rank(a) < Rank(b); });
  return costs;
}

absl::StatusOr<std::vector<GroupCost>> GroupEvaluator::BestFew(
    const Group& group, int count) const {
  TW_CHECK_GE(count, 1);
  TW_ASSIGN_OR_RETURN(std::vector<GroupCost> costs, SearchFor(group, 0));
  std::vector<GroupCost> few, others;
  const auto add = [&](std::vector<GroupCost> found) {
    const auto first = std::make_move_iterator(found.begin()),
               end = std::make_move_iterator(found.end());
    few.push_back(*first);
    others.insert(others.end(), std::next(first), end);
  };
  add(std::move(costs));
  if (!group.stages.empty() && few[0].covers &&
      few[0].kept_bytes > kRoomy * KeptRoom()) {
    for (const int64_t step : ReduceStepsWorthTrying(graph_, group, Lanes())) {
      TW_ASSIGN_OR_RETURN(costs, SearchFor(group, step));
      add(std::move(costs));
    }
  }
  return BestOf(std::move(few), std::move(others), !group.stages.empty(),
                static_cast<size_t>(count));
}

absl::StatusOr<GroupCost> GroupEvaluator::Best(const Group& group) const {
  TW_ASSIGN_OR_RETURN(const std::vector<GroupCost> best, BestFew(group, 1));
  return best[0];
}

GroupEvaluator::CpuLevel GroupEvaluator::TensorLevelOf(
    TensorId id, const Group& group) const {
  const int level = tensor_levels_.Of(id, group);
  return level == private_ ? CpuLevel::kPrivate
         : level > 0       ? CpuLevel::kShared
                           : CpuLevel::kMemory;
}

const MemoryLevel& GroupEvaluator::LevelOf(CpuLevel level) const {
  return level == CpuLevel::kPrivate  ? levels_[private_]
         : level == CpuLevel::kShared ? levels_[std::max(0, private_ - 1)]
                                      : levels_[0];
}

EstimateKey GroupEvaluator::KeyOf(const Group& group) const {
  return EstimateKeyOf(graph_, tensor_levels_, group);
}

}  // namespace tilewright

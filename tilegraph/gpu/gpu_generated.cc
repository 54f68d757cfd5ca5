// The cost of what was generated: GpuTileEvaluator::AsGenerated.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/hardware/taken_registers.h"
#include "tilegraph/gpu/tile_step.h"

namespace tilewright {
namespace {

// Instructions a clock of a scheduler's only warp: measured on an H100
// (docs/results/gpu_h100.md).
constexpr double kIssueOfOneWarp = 0.55;

}  // namespace

ClusterTile GpuTileEvaluator::Divided(const GpuCluster& cluster,
                                      const TileWork& work,
                                      const GpuTileDecision& decision,
                                      const BlockTile& made) {
  ClusterTile tile = Divide(cluster, work, decision);
  const TensorId root = gpu_.members[static_cast<size_t>(cluster.root)].id;
  const auto told = made.divisions.find(root);
  const std::vector<int64_t>& extents = TileOf(work, root).extents;
  if (told == made.divisions.end() ||
      told->second.threads.size() != extents.size())
    return tile;
  tile.simt.threads = told->second.threads;
  tile.simt.vector = told->second.vector;
  tile.simt.reduce_threads = told->second.lanes;
  tile.simt.slices = told->second.slices;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t vector = d + 1 == extents.size()   ? tile.simt.vector
                           : d + 2 == extents.size() ? told->second.rows
                                                     : 1;
    tile.simt.elements[d] =
        CeilDiv(extents[d], tile.simt.threads[d] * vector) * vector;
  }
  return tile;
}

void GpuTileEvaluator::TakeShared(const GeneratedBlock& made,
                                  const TileWork& work,
                                  GpuTilePlan& plan) const {
  std::map<TensorId, int64_t> left = made.shared;
  std::vector<SharedOperand> shared;
  for (SharedOperand& operand : plan.shared) {
    const auto kept = left.find(operand.tensor);
    if (kept == left.end()) continue;
    const auto padded = made.tile.row_padding.find(operand.tensor);
    // A padding that was planned and not taken: rows lie side by side.
    if (padded == made.tile.row_padding.end() &&
        operand.layout.pad_elements > 0) {
      operand.layout = {};
      operand.conflicts = ConflictsIn(operand, plan);
    }
    operand.bytes = kept->second;
    operand.offset_bytes = 0;
    shared.push_back(std::move(operand));
    left.erase(kept);
  }
  for (const auto& [tensor, bytes] : left) {
    SharedOperand& operand = shared.emplace_back();
    operand.tensor = tensor;
    operand.bytes = bytes;
    for (const auto* list : {&work.inputs, &work.inside, &work.outputs}) {
      for (const TileOperand& tile : *list)
        if (tile.tensor == tensor) operand.extents = tile.extents;
    }
  }
  plan.shared = std::move(shared);
  plan.shared_bytes = made.shared_bytes;
  for (GpuMember& member : plan.members.members) {
    for (GpuLoad& load : member.loads)
      load.shared = made.shared.count(load.tensor) > 0;
    member.shared = made.shared.count(member.id) > 0;
  }
  for (GpuInput& input : plan.members.inputs)
    input.staged = made.shared.count(input.id) > 0;
}

// Of a generated plan, of which all instructions are known.
void GpuTileEvaluator::AddIssue(GpuTilePlan& plan) const {
  const ComputeUnit& unit = spec_.unit();
  const auto schedulers =
      static_cast<double>(std::max<int64_t>(1, unit.schedulers_per_core()));
  const Banks banks = BanksOf(levels_);
  // The banks give a row a clock.
  const double clock_per_s =
      levels_.scratchpad->read_bytes_per_s() /
      static_cast<double>(banks.count * banks.width_bytes);
  if (!Measured() || plan.cost.warp_instructions <= 0 || clock_per_s <= 0)
    return;
  const auto warps =
      static_cast<double>(CeilDiv(plan.threads, unit.warp_size()));
  const double share = std::min(1.0, warps / schedulers * kIssueOfOneWarp);
  plan.cost.compute_seconds = std::max(
      plan.cost.compute_seconds,
      plan.cost.warp_instructions /
          (schedulers * clock_per_s * static_cast<double>(unit.cores())) *
          Waiting(plan, share));
}

absl::StatusOr<GpuTilePlan> GpuTileEvaluator::AsGenerated(
    const GeneratedBlock& made) {
  const int64_t registers = spec_.unit().registers_per_thread();
  if (registers > 0 && made.live_registers > registers)
    return absl::ResourceExhaustedError(
        absl::StrCat("a thread needs ", made.live_registers,
                     " registers at the same time, of ", registers));
  TW_ASSIGN_OR_RETURN(const TileWork* work, Work(made.tile.tile));
  const int64_t warp = spec_.unit().warp_size();
  GpuTileDecision decision;
  decision.tile = made.tile.tile;
  decision.step = made.tile.step;
  decision.threads = CeilDiv(made.threads, warp) * warp;
  decision.slices = made.tile.slices;
  decision.loads_ahead = made.tile.stages > 1;
  decision.squares = made.tile.rows % 4 == 0;
  decision.matrix = false;
  GpuTilePlan plan = Undecided();
  Outline(decision, *work, plan);
  for (const GpuCluster& cluster : gpu_.clusters)
    plan.clusters.push_back(Divided(cluster, *work, decision, made.tile));
  const TileStep& step = Step(*work, decision.step);
  PlaceShared(decision, *work, step, Rows::kBest, plan);
  TakeShared(made, *work, plan);
  plan.threads = made.threads;
  plan.generated = true;
  plan.registers_per_thread =
      made.live_registers > 0
          ? TakenRegisters(spec_.unit(), made.live_registers,
                           made.registers_with_loads, made.threads)
          : RegistersOf(decision, plan);
  plan.occupancy =
      OccupancyOf(spec_.unit(),
                  {plan.threads, plan.registers_per_thread, plan.shared_bytes});
  if (plan.occupancy.blocks_per_core == 0)
    return absl::ResourceExhaustedError(absl::StrCat(
        "a core has no room for a block of ", plan.threads, " threads with ",
        plan.registers_per_thread, " registers each and ", plan.shared_bytes,
        " bytes of scratchpad"));
  plan.cost.requested_sectors = made.requested_sectors;
  plan.cost.requested_turns = made.requested_turns;
  plan.cost.requested_lines = made.requested_lines;
  plan.cost.warp_instructions = made.warp_instructions;
  AddCost(decision, *work, step, Rows::kBest, plan);
  return plan;
}

}  // namespace tilewright

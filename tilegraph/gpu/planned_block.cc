#include "tilegraph/gpu/planned_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/ceil_div.h"
#include "tilegraph/gpu/hardware/occupancy.h"

namespace tilewright {
namespace {

constexpr int64_t kLanes = 32;  // of every GPU's warps, at least
constexpr int64_t kRegisterBytes = 4;
constexpr int64_t kLeastStep = 16;  // that is cut for the sake of registers

}  // namespace

std::optional<BlockTile> PlannedBlock(const GpuTilePlan& plan) {
  const TensorId output = plan.part.outputs.back();
  const ClusterTile* divided = nullptr;
  for (const GpuMember& member : plan.members.members)
    if (member.id == output)
      divided = &plan.clusters[static_cast<size_t>(member.cluster)];
  if (divided == nullptr || divided->matrix) return std::nullopt;
  BlockTile block;
  block.tile = plan.tile;
  block.threads = divided->simt.threads;
  block.vector = divided->simt.vector;
  block.lanes = std::min(divided->simt.reduce_threads, kLanes);
  block.slices = divided->simt.slices;
  block.step = plan.step;
  for (const SharedOperand& operand : plan.shared) {
    if (operand.layout.pad_elements > 0 && operand.row_dims == 1)
      block.row_padding[operand.tensor] = operand.layout.pad_elements;
  }
  return block;
}

void LoadAhead(const GpuTilePlan& plan, const ComputeUnit& unit,
               BlockTile& block) {
  if (plan.cost.wait_seconds <= 0 || plan.cost.steps == 1 ||
      plan.blocks_beside(unit.cores()) > 1)
    return;
  int64_t bytes = 0;  // that a block loads for a step
  for (const SharedOperand& operand : plan.shared) {
    if (std::any_of(
            plan.members.inputs.begin(), plan.members.inputs.end(),
            [&](const GpuInput& input) { return input.id == operand.tensor; }))
      bytes += operand.bytes / operand.copies;
  }
  for (int64_t parts = 1; parts == 1 || block.step / parts >= kLeastStep;
       parts *= 2) {
    const int64_t registers =
        plan.registers_per_thread +
        CeilDiv(bytes, parts * kRegisterBytes * plan.threads);
    if (registers > unit.registers_per_thread()) continue;
    const Occupancy occupancy =
        OccupancyOf(unit, {plan.threads, registers, plan.shared_bytes});
    if (occupancy.blocks_per_core < 1) continue;
    block.stages = 2;
    block.step /= parts;
    return;
  }
}

}  // namespace tilewright

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
constexpr int64_t kSquare = 4;      // elements that a load of 16 bytes brings
constexpr int64_t kStepOfTwoBuffers = 8;

// Of the operands from memory that a block has in scratch for a step.
int64_t StepBytes(const GpuTilePlan& plan) {
  int64_t bytes = 0;
  for (const SharedOperand& operand : plan.shared) {
    if (std::any_of(
            plan.members.inputs.begin(), plan.members.inputs.end(),
            [&](const GpuInput& input) { return input.id == operand.tensor; }))
      bytes += operand.bytes / operand.copies;
  }
  return bytes;
}

// How many blocks a core has if threads hold a step of these bytes in
// registers, and scratch `shared_bytes`; 0: too many registers.
int64_t BlocksAhead(const GpuTilePlan& plan, const ComputeUnit& unit,
                    int64_t step_bytes, int64_t shared_bytes) {
  const int64_t registers = plan.registers_per_thread +
                            CeilDiv(step_bytes, kRegisterBytes * plan.threads);
  if (registers > unit.registers_per_thread()) return 0;
  return OccupancyOf(unit, {plan.threads, registers, shared_bytes})
      .blocks_per_core;
}

// Which of the clusters computes the last output; nullopt: none does.
std::optional<size_t> OutputCluster(const GpuTilePlan& plan) {
  for (const GpuMember& member : plan.members.members)
    if (member.id == plan.part.outputs.back())
      return static_cast<size_t>(member.cluster);
  return std::nullopt;
}

// Whether it is a product whose rows and columns are the last two dimensions,
// and a thread's elements are whole squares of kSquare by kSquare there.
bool HasSquares(const GpuTilePlan& plan, const BlockTile& block) {
  const size_t rank = block.tile.size();
  if (rank < 2 || block.vector != kSquare ||
      block.tile[rank - 2] % (kSquare * block.threads[rank - 2]) != 0)
    return false;
  const std::optional<size_t> cluster = OutputCluster(plan);
  if (!cluster) return false;
  const uint32_t row = 1u << (rank - 2), column = 1u << (rank - 1);
  bool rows = false, columns = false;
  for (const GpuLoad& load :
       plan.members.members[plan.members.clusters[*cluster].root].loads) {
    rows |= (load.dims & (row | column)) == row;
    columns |= (load.dims & (row | column)) == column;
  }
  return rows && columns;
}

}  // namespace

std::optional<BlockTile> PlannedBlock(const GpuTilePlan& plan) {
  const std::optional<size_t> cluster = OutputCluster(plan);
  if (!cluster || plan.clusters[*cluster].matrix) return std::nullopt;
  const ThreadTile& divided = plan.clusters[*cluster].simt;
  BlockTile block;
  block.tile = plan.tile;
  block.threads = divided.threads;
  block.vector = divided.vector;
  block.lanes = std::min(divided.reduce_threads, kLanes);
  block.slices = divided.slices;
  block.step = plan.step;
  for (const SharedOperand& operand : plan.shared) {
    if (operand.layout.pad_elements > 0 && operand.row_dims == 1)
      block.row_padding[operand.tensor] = operand.layout.pad_elements;
  }
  return block;
}

void LoadAhead(const GpuTilePlan& plan, const ComputeUnit& unit,
               BlockTile& block) {
  if (plan.cost.wait_seconds <= 0 || plan.cost.steps == 1) return;
  if (HasSquares(plan, block)) block.rows = kSquare;
  const int64_t bytes = StepBytes(plan);
  const int64_t beside = plan.blocks_beside(unit.cores());
  if (beside > 1) {
    if (block.rows != kSquare || block.step < kStepOfTwoBuffers) return;
    const int64_t part = CeilDiv(bytes * kStepOfTwoBuffers, block.step);
    const int64_t shared_bytes = plan.shared_bytes - bytes + 2 * part;
    if (BlocksAhead(plan, unit, part, shared_bytes) < beside) return;
    block.stages = 3;
    block.step = kStepOfTwoBuffers;
    return;
  }
  for (int64_t parts = 1; parts == 1 || block.step / parts >= kLeastStep;
       parts *= 2) {
    if (BlocksAhead(plan, unit, CeilDiv(bytes, parts), plan.shared_bytes) < 1)
      continue;
    block.stages = 2;
    block.step /= parts;
    return;
  }
}

}  // namespace tilewright

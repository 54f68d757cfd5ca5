#include "tilegraph/gpu/planned_block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tilewright {
namespace {

constexpr int64_t kLanes = 32;  // of every GPU's warps, at least

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

}  // namespace tilewright

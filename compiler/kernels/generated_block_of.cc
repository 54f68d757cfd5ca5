#include "compiler/kernels/generated_block_of.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/kernel_ir/analysis/live_registers.h"
#include "backends/kernel_ir/analysis/warp_instructions.h"
#include "compiler/kernels/memory_requests.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

using kernel_ir::ScalarBuffer;

// With the model's tensors instead of the workload's.
template <typename Value>
std::map<TensorId, Value> OfModel(const GroupWorkload& group,
                                  const std::map<TensorId, Value>& values) {
  std::map<TensorId, Value> result;
  for (const auto& [tensor, value] : values)
    result[group.model_tensor[static_cast<size_t>(tensor)]] = value;
  return result;
}

}  // namespace

std::optional<TensorId> ModelTensorOf(const GroupWorkload& group,
                                      const std::string& buffer) {
  const std::optional<TensorId> tensor =
      group.workload.graph.Find(buffer.substr(0, buffer.find('.')));
  if (!tensor) return std::nullopt;
  return group.model_tensor[static_cast<size_t>(*tensor)];
}

absl::StatusOr<GeneratedBlock> GeneratedBlockOf(const GroupWorkload& group,
                                                const CompiledKernel& kernel,
                                                const GpuLevels& levels) {
  if (!kernel.scalar.has_threads())
    return kernel.refused.empty()
               ? absl::FailedPreconditionError("its schedule has no threads")
               : kernel.refused.front();
  GeneratedBlock block;
  block.tile = *group.block;
  if (kernel.schedule.tile_plan && kernel.schedule.tile_plan->block)
    block.tile = *kernel.schedule.tile_plan->block;
  block.tile.row_padding = OfModel(group, block.tile.row_padding);
  block.tile.divisions = OfModel(group, block.tile.divisions);
  block.threads = kernel.scalar.threads;
  block.shared_bytes = kernel.scalar.scratch_bytes;
  const kernel_ir::RegisterNeeds needs =
      kernel_ir::LiveRegisters(kernel.scalar);
  block.live_registers = needs.live;
  block.registers_with_loads = needs.with_loads;
  const std::vector<BufferRequests> requests = CountRequests(
      kernel.scalar, BanksOf(levels), levels.near->read_transaction_bytes());
  const int64_t blocks = kernel.scalar.num_tasks;
  block.warp_instructions =
      kernel_ir::WarpInstructions(kernel.scalar, blocks / 2) *
      static_cast<double>(blocks);
  for (size_t b = 0; b < requests.size(); ++b) {
    const ScalarBuffer& buffer = kernel.scalar.buffers[b];
    const std::optional<TensorId> tensor = ModelTensorOf(group, buffer.name);
    if (!tensor || buffer.per_thread) continue;
    if (buffer.role == kernel_ir::Role::kLocal) {
      block.shared[*tensor] += buffer.elements * SizeBytes(buffer.dtype);
      block.requested_turns[*tensor] += requests[b].turns;
    } else {
      block.requested_sectors[*tensor] += requests[b].sectors;
      block.requested_lines += requests[b].lines;
    }
  }
  return block;
}

}  // namespace tilewright

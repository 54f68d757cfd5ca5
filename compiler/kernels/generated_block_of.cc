#include "compiler/kernels/generated_block_of.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "backends/kernel_ir/analysis/live_registers.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

// With the model's tensors instead of the workload's.
template <typename Value>
std::map<TensorId, Value> OfModel(const GroupWorkload& group,
                                  const std::map<TensorId, Value>& values) {
  std::map<TensorId, Value> result;
  for (const auto& [tensor, value] : values)
    result[group.model_tensor[static_cast<size_t>(tensor)]] = value;
  return result;
}

// The tensor of a buffer: copies and parts of "t0" are called "t0.local",
// "t0.rf".
std::optional<TensorId> TensorOf(const TensorGraph& graph,
                                 const std::string& buffer) {
  return graph.Find(buffer.substr(0, buffer.find('.')));
}

}  // namespace

absl::StatusOr<GeneratedBlock> GeneratedBlockOf(const GroupWorkload& group,
                                                const CompiledKernel& kernel) {
  if (!kernel.scalar.has_threads())
    return absl::FailedPreconditionError(
        kernel.refused.empty() ? "its schedule has no threads"
                               : absl::StrJoin(kernel.refused, "; "));
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
  for (size_t arg = 0; arg < kernel.arg_tensors.size(); ++arg)
    block.layouts[group.model_tensor[static_cast<size_t>(
        kernel.arg_tensors[arg])]] = kernel.arg_layouts[arg];
  for (const kernel_ir::ScalarBuffer& buffer : kernel.scalar.buffers) {
    if (buffer.role != kernel_ir::Role::kLocal || buffer.per_thread) continue;
    const std::optional<TensorId> tensor =
        TensorOf(group.workload.graph, buffer.name);
    if (tensor)
      block.shared[group.model_tensor[static_cast<size_t>(*tensor)]] +=
          buffer.elements * SizeBytes(buffer.dtype);
  }
  return block;
}

}  // namespace tilewright

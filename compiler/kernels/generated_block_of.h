// A kernel in blocks of threads as the planner of GPUs takes it over: what a
// block really has of threads and scratchpad, and asks of its memories.
#ifndef TILEWRIGHT_COMPILER_KERNELS_GENERATED_BLOCK_OF_H_
#define TILEWRIGHT_COMPILER_KERNELS_GENERATED_BLOCK_OF_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The model's tensor that a buffer of the group's kernel holds, or a copy or a
// part of it: those of "t0" are called "t0.local", "t0.rf".
std::optional<TensorId> ModelTensorOf(const GroupWorkload& group,
                                      const std::string& buffer);

// In tensors of the model. Decisions are those of the kernel's schedule, or of
// the workload where a trace does not tell them. If the kernel is a fallback,
// the error of the generator that comes first: ResourceExhausted if its block
// wants more than the device has. REQUIRES: group.block; `kernel` was made of
// `group`.
absl::StatusOr<GeneratedBlock> GeneratedBlockOf(const GroupWorkload& group,
                                                const CompiledKernel& kernel,
                                                const GpuLevels& levels);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_GENERATED_BLOCK_OF_H_

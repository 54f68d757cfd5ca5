// The plan of a model for a device with threads: groups in blocks of threads,
// fused by the planner of GPUs (tilegraph/gpu/gpu_kernels.h), each tile as the
// generator of its schedule makes it.
#ifndef TILEWRIGHT_COMPILER_CONNECT_GPU_H_
#define TILEWRIGHT_COMPILER_CONNECT_GPU_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Immutable: tiles point into the spec.
struct PlannedGpu {
  DeviceSpec spec;
  GpuPlan plan;
};

// REQUIRES: GpuLevelsOf(spec); `plan` was made for `graph` without channel
// blocks. Kernels that it asks `maker` for are made once; what the maker
// refuses is not fused, or left to its fallbacks.
absl::StatusOr<std::shared_ptr<const PlannedGpu>> PlanForThreads(
    const TensorGraph& graph, const Plan& plan, const DeviceSpec& spec,
    GpuKernelsOptions options, KernelMaker& maker);

// The tile of the kernel that computes the group; null if it was planned
// without one.
const GpuTilePlan* TilesOf(const PlannedGpu& gpu, const Group& group);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_CONNECT_GPU_H_

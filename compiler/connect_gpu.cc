#include "compiler/connect_gpu.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "compiler/cap_memory.h"
#include "compiler/kernels/generated_block_of.h"
#include "compiler/kernels/group_workload.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"

namespace tilewright {

absl::StatusOr<std::shared_ptr<const PlannedGpu>> PlanForThreads(
    const TensorGraph& graph, const Plan& plan, const DeviceSpec& spec,
    GpuKernelsOptions options, KernelMaker& maker) {
  auto gpu = std::make_shared<PlannedGpu>();
  gpu->spec = spec;
  options.tiling.use = kThreadsOnly;
  const GpuLevels levels = *GpuLevelsOf(gpu->spec);
  options.generate =
      [&](const Group& group,
          const Plan& with_group) -> absl::StatusOr<GeneratedBlock> {
    TW_ASSIGN_OR_RETURN(const std::optional<BandMove> move,
                        FindBandMove(graph, with_group, group));
    if (move) return absl::UnimplementedError("it is a copy");
    const GroupWorkload workload = MakeGroupWorkload(graph, with_group, group);
    const absl::StatusOr<CompiledKernel>& kernel = maker.Make(workload);
    TW_RETURN_IF_ERROR(kernel.status());
    return GeneratedBlockOf(workload, *kernel, levels);
  };
  TW_ASSIGN_OR_RETURN(gpu->plan,
                      PlanGpuKernels(graph, plan, gpu->spec, options));
  return std::shared_ptr<const PlannedGpu>(std::move(gpu));
}

const GpuTilePlan* TilesOf(const PlannedGpu& gpu, const Group& group) {
  for (const GpuKernel& kernel : gpu.plan.kernels) {
    if (!kernel.tiles.empty() &&
        kernel.tiles.front().part.members == group.members)
      return &kernel.tiles.front();
    for (const GpuTilePlan& alone : kernel.unfused)
      if (alone.part.members == group.members) return &alone;
  }
  return nullptr;
}

}  // namespace tilewright

// A whole plan on a GPU: every group with its tiles, and groups fused where
// that saves time, by the search that fuses those of a CPU (connect_plan.h)
// with the cost model of a GPU (gpu_cost_model.h). No device is needed.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_KERNELS_H_
#define TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/align/gpu_tile_plan.h"
#include "tilegraph/tiling/align/gpu_tiling.h"
#include "tilegraph/tiling/connect_search.h"

namespace tilewright {

struct GpuKernel {
  std::vector<int> groups;  // of the plan, ascending; several: fused
  // Of this kernel, or, if nothing of it fits the machine, why.
  std::optional<GpuTilePlan> tiles;
  std::string why_not;
  double apart_seconds = 0;  // of its groups as kernels of their own
};

struct GpuKernelsOptions {
  GpuTilingOptions tiling;
  bool join = true;
  ConnectSearch search = ConnectSearch::kEdges;
  // Fused only if that saves this share: estimates are rough.
  double least_gain = 0.05;
  int most_groups = 8;
};

// REQUIRES: `plan` was made for `graph` without stages, layouts all plain.
// InvalidArgument if the spec is of no GPU. `spec` must outlive the result.
absl::StatusOr<std::vector<GpuKernel>> PlanGpuKernels(
    const TensorGraph& graph, const Plan& plan, const DeviceSpec& spec,
    const GpuKernelsOptions& options);

// Each kernel with its members and tiles, and the sum of all.
std::string ToString(const TensorGraph& graph, const Plan& plan,
                     const std::vector<GpuKernel>& kernels);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_KERNELS_H_

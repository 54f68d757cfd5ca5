// A whole plan on a GPU: every group with its tiles, and groups fused where
// that saves time, by the search that fuses those of a CPU (connect_plan.h)
// with the cost model of a GPU (gpu_cost_model.h). No device is needed.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_KERNELS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/parallel_for.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/connect_search.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Another kernel that the search compared with what it decided on.
struct GpuAlternative {
  std::vector<int> groups;           // that it would compute
  std::optional<GpuTilePlan> tiles;  // none if no tile of it fits
  double unfused_seconds = 0;        // of the kernels that it was compared with
  std::string why;                   // it was not taken
};

struct GpuKernel {
  std::vector<int> groups;  // of the plan, ascending; several: fused
  // The kernel's tile plans, best first; empty if none fits the machine, and
  // `why_not` says why.
  std::vector<GpuTilePlan> tiles;
  std::string why_not;
  std::vector<GpuTilePlan> unfused;  // its groups as kernels of their own
  std::vector<GpuAlternative> alternatives;

  double seconds() const;
  double unfused_seconds() const;
};

struct GpuKernelsOptions {
  GpuTilingOptions tiling;
  bool fuse = true;
  ConnectSearch search = ConnectSearch::kEdges;
  // Fused only if that saves this share: estimates are rough.
  double least_gain = 0.05;
  int most_groups = 8;
  // Asked for the schedule of every tile that is compared with others; null:
  // tiles are costed as planned.
  GenerateBlock generate;
  // That plan, and ask `generate`, at the same time.
  int threads = UsableCpus();
};

struct GpuPlan {
  // As it was given, but for groups of several reductions whose computes take
  // less as kernels of their own, or of which nothing fits the machine: each of
  // those computes is a group, which the search may fuse with others.
  // With `generate`, the groups' tile plans are what their generators are asked
  // for if they are kernels of their own.
  Plan plan;
  std::vector<GpuKernel> kernels;
  // What was fused of the plan's groups, and why: FusedPlan of it has the
  // kernels' groups.
  ConnectedGroups connected;

  double seconds() const;
};

// REQUIRES: `plan` was made for `graph` without stages, layouts all plain.
// InvalidArgument if the device's cores have no scratchpads. `spec` must
// outlive the result.
absl::StatusOr<GpuPlan> PlanGpuKernels(const TensorGraph& graph,
                                       const Plan& plan, const DeviceSpec& spec,
                                       const GpuKernelsOptions& options);

// Each kernel with its members and tiles, and the sum of all.
std::string ToString(const TensorGraph& graph, const GpuPlan& plan);

// Explains the kernel with this group of the plan (all of them if negative):
// what limits it, at which level of memory each edge passes, and what the
// alternatives would take and why: its next tile, its groups unfused, other
// groups fused with it.
std::string WhyText(const TensorGraph& graph, const GpuPlan& plan, int group);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_KERNELS_H_

// The cost model of a GPU (group_cost_model.h): kernels in the tiles that
// TileForGpu finds for them.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_COST_MODEL_H_
#define TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_COST_MODEL_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/kernel_key.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/align/gpu_tile_plan.h"
#include "tilegraph/tiling/align/gpu_tiling.h"
#include "tilegraph/tiling/group_cost_model.h"

namespace tilewright {

// The best tiles of groups, equal ones planned once. Not thread-safe.
class GpuTilePlans {
 public:
  // All must outlive it and what it returns. REQUIRES: GpuLevelsOf(spec).
  GpuTilePlans(const TensorGraph& graph, const Plan& plan,
               const DeviceSpec& spec, const GpuTilingOptions& options)
      : graph_(graph), plan_(plan), spec_(spec), options_(options) {}

  // Under the group's own names. Errors as of TileForGpu.
  absl::StatusOr<GpuTilePlan> Of(const Group& group);
  // Distinct groups that were planned.
  size_t planned() const { return known_.size(); }

 private:
  // Of the first group of its key.
  struct Known {
    std::vector<TensorId> tensors;  // in canonical order
    absl::StatusOr<GpuTilePlan> plan;
  };

  const TensorGraph& graph_;
  const Plan& plan_;
  const DeviceSpec& spec_;
  const GpuTilingOptions& options_;
  std::map<KernelKey, Known> known_;
};

class GpuCostModel : public GroupCostModel {
 public:
  // All must outlive it.
  GpuCostModel(const TensorGraph& graph, const Plan& plan, GpuTilePlans& plans)
      : graph_(graph), plan_(plan), plans_(plans) {}

  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const override;
  EstimateKey KeyOf(const Group& group) const override;

 private:
  const TensorGraph& graph_;
  const Plan& plan_;
  GpuTilePlans& plans_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_COST_MODEL_H_

// The cost model of a GPU (group_cost_model.h): kernels in the tiles that
// TileForGpu finds for them.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_COST_MODEL_H_
#define TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_COST_MODEL_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/align/gpu_tile_plan.h"
#include "tilegraph/tiling/align/gpu_tiling.h"
#include "tilegraph/tiling/group_cost_model.h"

namespace tilewright {

// The best tiles of groups, equal ones planned once. Not thread-safe.
class GpuTilePlans {
 public:
  // All must outlive it and what it returns. REQUIRES: IsGpu(spec).
  GpuTilePlans(const TensorGraph& graph, const DeviceSpec& spec,
               const GpuTilingOptions& options)
      : graph_(graph), spec_(spec), options_(options) {}

  // Under the group's own names. Errors as of TileForGpu.
  absl::StatusOr<GpuTilePlan> Of(const Group& group);
  // Distinct groups that were planned.
  size_t planned() const { return known_.size(); }

 private:
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const GpuTilingOptions& options_;
  std::map<std::string, absl::StatusOr<GpuTilePlan>> known_;
};

class GpuCostModel : public GroupCostModel {
 public:
  // All must outlive it.
  GpuCostModel(const TensorGraph& graph, GpuTilePlans& plans)
      : graph_(graph), plans_(plans) {}

  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const override;
  std::string Signature(const Group& group) const override;

 private:
  const TensorGraph& graph_;
  GpuTilePlans& plans_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_ALIGN_GPU_COST_MODEL_H_

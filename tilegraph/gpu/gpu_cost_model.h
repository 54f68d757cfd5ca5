// The cost model of a GPU (group_cost_model.h): kernels in the tiles that
// TileForGpu finds for them.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_COST_MODEL_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_COST_MODEL_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// Why no schedule came of any planned tile, and what the best would have taken.
struct GpuRefusal {
  absl::Status why;
  double seconds = 0;
  BlockTile block;  // the wishes for it
};

// The best tiles of groups, equal ones planned once. Not thread-safe.
class GpuTilePlans {
 public:
  // All must outlive it and what it returns. With `generate`, tiles are those
  // that have a schedule, costed as it came out. REQUIRES: GpuLevelsOf(spec).
  GpuTilePlans(const TensorGraph& graph, const Plan& plan,
               const DeviceSpec& spec, const GpuTilingOptions& options,
               GenerateBlock generate = nullptr);

  // Best first, at least one, under the group's own names. Errors as of
  // TileForGpu, or of `generate`.
  absl::StatusOr<std::vector<GpuTilePlan>> Of(const Group& group);
  // Of a group whose tiles were all refused.
  std::optional<GpuRefusal> RefusalOf(const Group& group) const;
  // The kernel and where its operands lie.
  EstimateKey KeyOf(const Group& group) const;
  // Distinct groups that were planned.
  size_t planned() const { return known_.size(); }

 private:
  // The plans of the first group that had the key.
  struct Known {
    std::vector<TensorId> tensors;  // in canonical order
    absl::StatusOr<std::vector<GpuTilePlan>> plans;
    std::optional<GpuRefusal> refusal = {};
  };
  // Those of the planned tiles that have a schedule, as it came out. What costs
  // more than the best of those is not asked for.
  void Generate(const Group& group, const TileGraph& tiles,
                const Subgraph& part, Known& known);

  const TensorGraph& graph_;
  const Plan& plan_;
  const DeviceSpec& spec_;
  const GpuTilingOptions& options_;
  const GenerateBlock generate_;
  const GpuLevels levels_;
  std::map<EstimateKey, Known> known_;
};

// The cost of the tile, as plans are compared by it.
GroupCost AsGroupCost(const GpuTilePlan& plan);

class GpuCostModel : public GroupCostModel {
 public:
  explicit GpuCostModel(GpuTilePlans& plans) : plans_(plans) {}

  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const override;
  // In the best tile: its generators take that.
  absl::StatusOr<GroupCost> CostOf(const Group& group) const override;
  EstimateKey KeyOf(const Group& group) const override {
    return plans_.KeyOf(group);
  }

 private:
  GpuTilePlans& plans_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_COST_MODEL_H_

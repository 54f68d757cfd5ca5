// The cost model of a GPU (group_cost_model.h): kernels in the tiles that
// TileForGpu finds for them.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_COST_MODEL_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_COST_MODEL_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/block_tile.h"
#include "tilegraph/plan/canonical_group.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// The best tiles of groups, equal ones planned once. Not thread-safe.
class GpuTilePlans {
 public:
  // All must outlive it and what it returns. With `generate`, tiles are those
  // that have a schedule, costed as it came out. With several `threads` it is
  // asked by as many at the same time, also for tiles that turn out not to be
  // needed; what is found is the same. REQUIRES: GpuLevelsOf(spec).
  GpuTilePlans(const TensorGraph& graph, const Plan& plan,
               const DeviceSpec& spec, const GpuTilingOptions& options,
               GenerateBlock generate = nullptr, int threads = 1);
  // Of another plan of the graph; each knows what the other finds out.
  GpuTilePlans(const GpuTilePlans& other, const Plan& plan);

  // Finds out what Planned returns for these groups, and Of for those without
  // stages, on all threads.
  void Prepare(absl::Span<const Group> groups);

  // Best first, at least one, under the group's own names. Errors as of
  // TileForGpu, or of `generate`.
  absl::StatusOr<std::vector<GpuTilePlan>> Of(const Group& group);
  // The same before anything is generated of them.
  absl::StatusOr<std::vector<GpuTilePlan>> Planned(const Group& group);
  // The one of them that the group's tile plan has, generated; the error says
  // why there is no schedule. REQUIRES: there is one.
  absl::StatusOr<GpuTilePlan> Generated(const Group& group);
  // The best that was generated so far, or is planned; nullopt if nobody has
  // asked for its tiles, or there are none.
  std::optional<GpuTilePlan> BestSoFar(const Group& group);
  // Of a group whose tiles were all refused the wishes for the best.
  std::optional<BlockTile> RefusedBlock(const Group& group);
  // The kernel, where its operands lie and the tile, if it has one.
  EstimateKey KeyOf(const Group& group) const;
  // Distinct groups that were planned.
  size_t planned() const { return known_->size(); }

 private:
  // A planned tile as its schedule comes out.
  struct Generation {
    std::optional<absl::StatusOr<GpuTilePlan>> made;
    bool not_ahead = false;  // loading ahead it would have none
    // By somebody who needs it. Until then it is as if it were not made.
    bool asked = false;
  };
  // Of the first group that had the key.
  struct Known {
    std::vector<TensorId> tensors;  // in canonical order
    absl::StatusOr<std::vector<GpuTilePlan>> planned;
    GpuFeatures use;                    // that they were planned with
    std::vector<Generation> generated;  // by planned tile
  };
  // A group, and what is known of those that equal it.
  struct Asked {
    const Group& group;
    std::vector<TensorId> tensors;
    TileGraph tiles;
    Subgraph part;
    EstimateKey key;
    Known* known = nullptr;  // if it was planned
  };
  Asked Recall(const Group& group);
  Asked Ask(const Group& group);  // plans it if that is new
  void PlanTiles(const Asked& asked, const GpuFeatures& use);
  // `Of`, under the names of the first group of the key.
  absl::StatusOr<std::vector<GpuTilePlan>> GenerateBest(const Asked& asked);
  EstimateKey KeyOf(const Group& group, const CanonicalGroup& canonical) const;
  // Instead of tiles all of which needed more than was planned and there is,
  // those that are planned with less of what they take most of; whether there
  // are any.
  bool PlanWithLess(const Asked& asked);
  // The planned tile as its schedule came out.
  const absl::StatusOr<GpuTilePlan>& Generate(const Asked& asked, size_t tile);
  // The tile and those that may be asked for after it, one on each thread.
  void GenerateFrom(const Asked& asked, size_t tile);
  void Make(const Asked& asked, size_t tile) const;
  absl::StatusOr<GpuTilePlan> MakeGenerated(const Asked& asked,
                                            const GpuTilePlan& planned) const;
  // Under the group's names.
  static void Rename(const Asked& asked, GpuTilePlan& plan);

  const TensorGraph& graph_;
  const Plan& plan_;
  const DeviceSpec& spec_;
  const GpuTilingOptions& options_;
  const GenerateBlock generate_;
  const int threads_;
  const GpuLevels levels_;
  std::shared_ptr<std::map<EstimateKey, Known>> known_;
};

// The cost of the tile, as plans are compared by it.
GroupCost AsGroupCost(const GpuTilePlan& plan);

class GpuCostModel : public GroupCostModel {
 public:
  explicit GpuCostModel(GpuTilePlans& plans) : plans_(plans) {}

  void Prepare(absl::Span<const Group> groups) const override {
    plans_.Prepare(groups);
  }
  // Of groups of the plan as generated; of several in one as planned, for the
  // search to ask for those that may pay.
  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const override;
  // As generated.
  absl::StatusOr<GroupCost> CostOf(const Group& group) const override;
  EstimateKey KeyOf(const Group& group) const override {
    return plans_.KeyOf(group);
  }

 private:
  GpuTilePlans& plans_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_COST_MODEL_H_

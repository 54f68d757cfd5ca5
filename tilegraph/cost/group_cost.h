// The cost model of a core with caches: what a group costs if its output is
// computed in tiles of a given shape, a task taking one or several of them
// (task_steps.h).
//
// The times of one core are those of kernel_seconds.h. Tiles of stages live in
// the private cache (or scratchpad) of a core: what does not fit there has no
// estimate.
#ifndef TILEWRIGHT_TILEGRAPH_COST_GROUP_COST_H_
#define TILEWRIGHT_TILEGRAPH_COST_GROUP_COST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/cost/group_traffic.h"
#include "tilegraph/cost/group_work.h"
#include "tilegraph/cost/kernel_features.h"
#include "tilegraph/cost/kernel_seconds.h"
#include "tilegraph/cost/tensor_levels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// By what plans are compared: by time, or by the bytes that leave the private
// caches, as if nothing else took any (the paper's key).
enum class CostKey { kTime, kTraffic };

class GroupEvaluator : public GroupCostModel {
 public:
  // All must outlive it.
  GroupEvaluator(const TensorGraph& graph, const Plan& plan,
                 const DeviceSpec& spec, CostKey key = CostKey::kTime);

  // In the tile, its last stage in such blocks, all else as it is expected
  // (stage_rules.h). REQUIRES: one size per dimension of the output.
  // InvalidArgument if a region cannot be told.
  absl::StatusOr<GroupCost> Cost(Group group, const std::vector<int64_t>& tile,
                                 int64_t reduce_step = 0) const;
  absl::StatusOr<GroupCost> CostOf(const Group& group) const override;
  // Tiles that a schedule can have: whole vectors where the output has them.
  // Where room is short, the last stage's reduction in blocks too, the best of
  // each kind among them.
  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const override;
  absl::StatusOr<GroupCost> Best(const Group& group) const;
  // The counts that CostOf makes its times of. Fails as CostOf does.
  absl::StatusOr<KernelFeatures> Features(const Group& group) const;

  EstimateKey KeyOf(const Group& group) const override;

  const TensorLevels& tensor_levels() const { return tensor_levels_; }
  // Where a tensor of the group's lies between kernels (tensor_levels.h): in
  // the cache of a core, in one around it, or outside of all.
  enum class CpuLevel { kPrivate, kShared, kMemory };
  CpuLevel TensorLevelOf(TensorId id, const Group& group) const;
  const MemoryLevel& LevelOf(CpuLevel level) const;

 private:
  struct Prepared;
  absl::StatusOr<GroupCost> Cost(Prepared& prepared, TilePlan plan) const;
  // The plan that generators are expected to make of the group in that tile.
  absl::StatusOr<TilePlan> Expected(Prepared& prepared,
                                    const std::vector<int64_t>& tile) const;
  // All tiles that a search comes by, best first.
  absl::StatusOr<std::vector<GroupCost>> SearchFor(Group group,
                                                   int64_t reduce_step) const;
  // The counts, and what they are made of beside times.
  // `cost.plan` is given.
  absl::StatusOr<KernelFeatures> Features(Prepared& prepared,
                                          GroupCost& cost) const;
  void AddFilterBytes(const Group& group, const GroupWork::Amount& amount,
                      GroupTraffic::ByStage& bytes) const;
  void AddBytes(const GroupTraffic::ByStage& bytes, GroupCost& cost) const;
  double Bytes(TensorId id) const;
  double KeptRoom() const;  // for that
  int64_t Lanes() const;    // f32 in a vector
  void AddTimes(const Group& group, const KernelFeatures& features,
                GroupCost& cost) const;
  void OnlyTraffic(GroupCost& cost) const;
  // Of each group of the plan, on all cores, roughly: before tiles are chosen.
  std::vector<double> GroupSeconds(const Plan& plan) const;

  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const CostKey key_;
  TensorLevels tensor_levels_;
  const TileGraph tile_graph_;
  const std::vector<MemoryLevel> levels_;  // of a core
  const int private_, closest_;            // of them
  const KernelTimer timer_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_GROUP_COST_H_

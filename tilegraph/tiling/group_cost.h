// What a group costs if its output is computed in tiles of a given shape, a
// task taking one or several of them (task_steps.h): the price by which groups
// are joined (connect_plan.h).
//
// A stage takes as long as its arithmetic, at the rate that its kind reaches,
// or as the slowest of its transfers between memory levels, whichever is
// longer (design: planning.md); of what crosses the outermost level a part
// comes on top. Stages come one after the other, tasks have their overhead.
// Tiles of stages live in the private cache (or scratchpad) of a core: what
// does not fit there has no price.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_GROUP_COST_H_
#define TILEWRIGHT_TILEGRAPH_TILING_GROUP_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/group_traffic.h"
#include "tilegraph/tiling/tensor_homes.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {

struct GroupCost {
  std::vector<int64_t> tile;
  int64_t reduce_step = 0;  // of the last stage (plan.h)
  double tasks = 1;
  double flops = 0;      // with what overlapping tiles compute repeatedly
  double recompute = 1;  // flops over those of computing everything once
  // Across each level of the spec and the next inner one, registers' left out.
  std::vector<LevelBytes> levels;
  // In sum: across the outermost; what more leaves and enters the private
  // cache; further inwards.
  double memory_bytes = 0, shared_bytes = 0, private_bytes = 0;
  // Tiles of stages, of one task; in blocks its sums too.
  int64_t scratch_bytes = 0;
  // Those, and what else comes by while it computes a tile, or a block of it.
  double kept_bytes = 0;
  bool fits = true;  // into the private cache
  // Whether tiles of side outputs lie side by side; else it cannot be done.
  bool covers = true;
  // Of one core that does it all: arithmetic, and what transfers add to it.
  double work_seconds = 0, transfer_seconds = 0;
  double one_core_seconds = 0;
  double seconds = 0;  // of all cores

  // What is compared: seconds of cores, the mean of one and of all at work.
  double core_seconds = 0;
};

// What leaves and enters the private caches.
double FarBytes(const GroupCost& cost);

// By what plans are compared: by time, or by the bytes that leave the private
// caches, as if nothing else took any (the paper's key).
enum class CostKey { kTime, kTraffic };

class GroupPricer {
 public:
  // All must outlive it.
  GroupPricer(const TensorGraph& graph, const Plan& plan,
              const DeviceSpec& spec, CostKey key = CostKey::kTime);

  // In the blocks that its last stage asks for. REQUIRES: one size per
  // dimension of the output. InvalidArgument if a region cannot be told.
  absl::StatusOr<GroupCost> Cost(const Group& group,
                                 const std::vector<int64_t>& tile) const;
  // With the best tiles that a schedule can have, best first, `count` at most:
  // whole vectors where the output has them. None of them overflows, but a
  // single one if all do. Where room is short, the last stage's reduction in
  // blocks too, the best of each kind among them. Deterministic.
  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const;
  absl::StatusOr<GroupCost> Best(const Group& group) const;

  // What Best depends on, and nothing else: equal texts, equal costs, for equal
  // specs.
  std::string Signature(const Group& group) const;

  const TensorHomes& homes() const { return homes_; }
  // Where a tensor lies between kernels: in the cache of a core, in one around
  // it, or outside of all.
  enum class Home { kPrivate, kShared, kMemory };
  Home HomeOf(TensorId id) const;
  const MemoryLevel& LevelOf(Home home) const;

 private:
  struct Prepared;
  absl::StatusOr<GroupCost> Cost(Prepared& prepared,
                                 const std::vector<int64_t>& tile) const;
  // Of all tiles that the climb comes by.
  absl::StatusOr<std::vector<GroupCost>> Climb(const Group& group) const;
  void AddStages(const std::vector<double>& work_seconds,
                 const GroupTraffic::ByStage& bytes, GroupCost& cost) const;
  double Bytes(TensorId id) const;
  double KeptRoom() const;  // for that
  int64_t Lanes() const;    // f32 in a vector
  void AddTimes(const Group& group, const std::vector<int64_t>& task,
                GroupCost& cost) const;
  void OnlyTraffic(GroupCost& cost) const;

  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const CostKey key_;
  const TensorHomes homes_;
  const TileGraph tile_graph_;
  const std::vector<MemoryLevel> levels_;  // of a core
  const int private_, closest_;            // of them
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_GROUP_COST_H_

// What a group costs if its output is computed in tiles of a given shape, a
// task taking one or several of them (task_steps.h): the price by which groups
// are joined (connect_plan.h).
//
// Arithmetic runs at the rate that its kind reaches; what crosses between
// memory levels is added, since stores and first touches stall. Tiles of stages
// live in the private cache (or scratchpad) of a core: what does not fit there
// has no price. A tensor between kernels lies in the innermost level that holds
// it beside what else comes by.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_GROUP_COST_H_
#define TILEWRIGHT_TILEGRAPH_TILING_GROUP_COST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/tile_graph.h"
#include "tilegraph/tiling/tile_work.h"

namespace tilewright {

struct GroupCost {
  std::vector<int64_t> tile;
  double tasks = 1;
  double flops = 0;      // with what overlapping tiles compute repeatedly
  double recompute = 1;  // flops over those of computing everything once
  // Across the outermost level, from the shared cache inwards, and within the
  // private cache (tiles of stages).
  double memory_bytes = 0, shared_bytes = 0, private_bytes = 0;
  int64_t scratch_bytes = 0;  // tiles of stages, of one task
  bool fits = true;           // into the private cache
  // Of one core that does it all.
  double work_seconds = 0, transfer_seconds = 0;
  double one_core_seconds = 0;
  double seconds = 0;  // of all cores

  // What is compared: seconds of cores, the mean of one and of all at work.
  double core_seconds = 0;
};

class GroupPricer {
 public:
  // All must outlive it.
  GroupPricer(const TensorGraph& graph, const Plan& plan,
              const DeviceSpec& spec);

  // REQUIRES: one size per dimension of the output. InvalidArgument if a region
  // cannot be told.
  absl::StatusOr<GroupCost> Cost(const Group& group,
                                 const std::vector<int64_t>& tile) const;
  // With the best tiles that a schedule can have, best first, `count` at most:
  // whole vectors where the output has them. None of them overflows, but a
  // single one if all do. Deterministic.
  absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                 int count) const;
  absl::StatusOr<GroupCost> Best(const Group& group) const;

  // What Best depends on, and nothing else: equal texts, equal costs, for equal
  // specs.
  std::string Signature(const Group& group) const;

  // Where a tensor lies between kernels: in the cache of a core, in the one
  // around it, or outside of all.
  enum class Home { kPrivate, kShared, kMemory };
  Home HomeOf(TensorId id) const;
  const MemoryLevel& LevelOf(Home home) const {
    return home == Home::kPrivate  ? *private_
           : home == Home::kShared ? *shared_
                                   : *memory_;
  }

 private:
  absl::StatusOr<GroupCost> Cost(const Group& group, TileWorks& works,
                                 const std::vector<int64_t>& tile) const;
  int VectorDim(TensorId id) const;
  double OpsPerSecond(TensorId member, const std::vector<int64_t>& extents,
                      int vector_dim) const;
  const Layout* LayoutOf(TensorId id) const;

  const TensorGraph& graph_;
  const Plan& plan_;
  const DeviceSpec& spec_;
  TileGraph tile_graph_;
  // Levels of the spec: outermost, shared by cores, private to one, and the
  // next one inwards, or the same.
  const MemoryLevel *memory_, *shared_, *private_, *closest_ = nullptr;
  double shared_capacity_, private_capacity_, closest_capacity_;  // of a core
  double constant_bytes_ = 0;  // of the whole model
  double lanes_;               // f32 in a vector
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_GROUP_COST_H_

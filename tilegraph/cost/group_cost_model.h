// The cost model of the planner: what one kernel is estimated to cost on a
// device, served from its spec. The search (connect_plan.h) compares kernels by
// it and knows nothing else of the device.
//
// Two implementations: a core with caches (group_cost.h), a GPU
// (tilegraph/gpu/gpu_cost_model.h).
#ifndef TILEWRIGHT_TILEGRAPH_COST_GROUP_COST_MODEL_H_
#define TILEWRIGHT_TILEGRAPH_COST_GROUP_COST_MODEL_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/cost/estimate_key.h"
#include "tilegraph/cost/kernel_features.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// One kernel in one tile.
struct GroupCost {
  TilePlan plan;              // empty: no estimate
  std::vector<int64_t> task;  // the tiles that a task takes, as one
  double tasks = 1;
  double flops = 0;      // with what overlapping tiles compute repeatedly
  double recompute = 1;  // flops over those of computing everything once
  // Across each level of the spec and the next inner one, registers' left out.
  std::vector<LevelBytes> levels;
  // In sum: across the outermost; what more leaves and enters the private
  // level; further inwards.
  double memory_bytes = 0, shared_bytes = 0, private_bytes = 0;
  // Tiles of stages, of one task; in blocks its sums too.
  int64_t scratch_bytes = 0;
  // Those, and what else comes by while it computes a tile, or a block of it.
  double kept_bytes = 0;
  bool fits = true;  // into the private level
  // Whether tiles of side outputs lie side by side; else it cannot be done.
  bool covers = true;
  // Seconds of one core that does it all: arithmetic, and those that transfers
  // add to it.
  double work_seconds = 0, transfer_seconds = 0;
  double one_core_seconds = 0;
  double seconds = 0;  // of all cores

  // The cost that plans are compared by: on a CPU seconds of cores, the mean of
  // one and of all at work; on a GPU seconds.
  double core_seconds = 0;
};

// Bytes that enter and leave the private level.
inline double FarBytes(const GroupCost& cost) {
  return cost.memory_bytes + cost.shared_bytes;
}

// Makes a schedule of a group with stages, what its tile plan says preferred,
// and says what became of each decision; an error says why there is none. The
// plan has the layouts of the stages' results. Injected by who knows generators
// (sketch): the search knows none.
using GenerateTiles =
    std::function<absl::StatusOr<TilePlan>(const Group&, const Plan&)>;

class GroupCostModel {
 public:
  virtual ~GroupCostModel() = default;

  // BestFew of these will be asked for; those who can find it out on several
  // threads do.
  virtual void Prepare(absl::Span<const Group> /*groups*/) const {}
  // The group in its best tiles, best first, at least one, `count` at most.
  // None of them overflows, but a single one if all do. An error says why there
  // is no estimate. Deterministic.
  virtual absl::StatusOr<std::vector<GroupCost>> BestFew(const Group& group,
                                                         int count) const = 0;
  // The group in its tile plan, as that stands. REQUIRES: it says something of
  // every stage. Errors alike.
  virtual absl::StatusOr<GroupCost> CostOf(const Group& group) const = 0;
  // Names all that BestFew depends on, and nothing else; for a group with a
  // tile, all that its cost in that tile depends on. Equal keys, equal costs.
  virtual EstimateKey KeyOf(const Group& group) const = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_GROUP_COST_MODEL_H_

// The key of a group's estimated cost, which depends on it and the device
// alone: equal keys, equal costs, wherever in a model, and whatever it calls
// its tensors.
#ifndef TILEWRIGHT_TILEGRAPH_COST_ESTIMATE_KEY_H_
#define TILEWRIGHT_TILEGRAPH_COST_ESTIMATE_KEY_H_

#include <string>
#include <vector>

#include "tilegraph/cost/tensor_levels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/kernel_key.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct EstimateKey {
  KernelKey kernel;
  // The memory level of each operand: what the kernel reads, in canonical order
  // (canonical_group.h), then what it writes.
  std::vector<int> levels;
  // The plan's decisions about tiles: how results that stay inside lie, by how
  // many steps the stages' reductions go, the tile that a task computes if it
  // is decided.
  std::string tiles;

  friend bool operator<(const EstimateKey& a, const EstimateKey& b);
};

// REQUIRES: `tensor_levels` is of `graph` and of the plan of `group`.
EstimateKey EstimateKeyOf(const TensorGraph& graph,
                          const TensorLevels& tensor_levels,
                          const Group& group);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_ESTIMATE_KEY_H_

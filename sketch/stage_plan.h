// What a plan says of a group that is computed tile by tile, in the ids of its
// workload: tilegraph's Group::stages, ready to be scheduled.
#ifndef TILEWRIGHT_SKETCH_STAGE_PLAN_H_
#define TILEWRIGHT_SKETCH_STAGE_PLAN_H_

#include <cstdint>
#include <vector>

#include "tilegraph/layout.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright::sketch {

struct StagePlan {
  struct Stage {
    // Ascending; the last is its output.
    std::vector<TensorId> members;
    // How the whole output would lie in memory; a tile of it lies alike.
    Layout layout;
    // Steps of its reduction that are taken at a time, 0 for all
    // (tilegraph/plan.h); rounded up to what its operands keep together.
    int64_t reduce_step = 0;
  };
  // In an order in which they can run; the last computes the workload's last
  // output, stages before it the others.
  std::vector<Stage> stages;
  // Of the last output, per dimension: what a task computes.
  std::vector<int64_t> tile;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_STAGE_PLAN_H_

// How a fused group is computed tile by tile: its stages and what is decided of
// them before any loop is written, in the ids of its workload.
#ifndef TILEWRIGHT_SKETCH_TRACE_STAGE_PLAN_H_
#define TILEWRIGHT_SKETCH_TRACE_STAGE_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/trace/fused_wishes.h"
#include "sketch/trace/workload.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/task_steps.h"

namespace tilewright::sketch {

struct StagePlan {
  struct Stage {
    // Ascending; the last is its output.
    std::vector<TensorId> members;
    // As FusedWishes says.
    Layout layout;
    int64_t reduce_step = 0;
  };
  // In an order in which they can run; the last computes the workload's last
  // output, stages before it the others.
  std::vector<Stage> stages;
  // The part of the last output that is computed at a time, per dimension.
  std::vector<int64_t> tile;
  // Tiles that a task computes one after another, if not one alone.
  std::optional<TaskSteps> steps = {};
  // The known zeros of all tensors of the workload (FindKnownZeros).
  std::map<TensorId, KnownZeros> zeros = {};
};

// The stages of the workload as wished for. InvalidArgument if an output is no
// stage's result, a stage reads what a later one computes, or the wishes are
// those of other stages.
absl::StatusOr<StagePlan> WishedPlan(const Workload& workload,
                                     const FusedWishes& wishes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_STAGE_PLAN_H_

// Where the stages of a fused group stand in a task, and what they keep from
// tile to tile. STAGE is the name of a stage's result.
//
//   STAGE.at    the loop that it is computed in: "task", or that over blocks of
//               a later stage's reduction, by the name of that one's result
//   STAGE.roll  "yes": along the tiles of a task only what the tile before has
//               not is computed, the rest is kept
//
// Both are tried on a copy of what has been replayed so far; what does not hold
// is no option. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_FUSED_STAGE_LOCATIONS_H_
#define TILEWRIGHT_SKETCH_FUSED_STAGE_LOCATIONS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/replay/replayer.h"
#include "sketch/trace/rolled_part.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/stage_plan.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

// A loop that a stage may stand in.
struct TaskLoop {
  std::string name;  // as an option of "at"
  Handle loop;
};

// A stage that is about to be placed: the block that writes its result, and
// what has been replayed so far.
struct StageToLocate {
  const Workload& workload;
  const StagePlan& plan;
  size_t stage;
  Handle block;
  const Replayer& replayer;
};

// `loops`: that of the task, those over blocks from the outermost on. Preferred
// is the innermost in which nothing of the stage is computed more often than in
// that of the task.
absl::StatusOr<Handle> DecideLocation(const StageToLocate& stage,
                                      const std::vector<TaskLoop>& loops,
                                      Decider& decider);

// The dimension along which the result of a stage rolls, which `block` writes
// in `loop`, if it does: preferred where it can. Never `lanes`, if that is one.
struct RolledDim {
  int dim;
  RolledPart part;
};
absl::StatusOr<std::optional<RolledDim>> DecideRoll(Handle block, Handle loop,
                                                    int lanes,
                                                    const Replayer& replayer,
                                                    Decider& decider);

// Returns the layout of the part of a stage's result that is held where it
// stands in `tree`.
Layout LayoutOfStage(const BlockTree& tree, const Workload& workload,
                     const StagePlan& plan, size_t stage);

const Buffer& BufferOf(const BlockTree& tree, const Tensor& tensor);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_STAGE_LOCATIONS_H_

// How a group is computed in tiles of its output: a fused one on a CPU, with
// what is decided of each of its stages beside which computes it has; any on a
// GPU, with the threads of a block.
//
// The planner costs tiles by what it expects (tiling/stage_rules.h). What a
// generator of schedules really decides is written back (`generated`), costed
// once more, and read by all that follows: nobody derives it again.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_TILE_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_TILE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/plan/block_tile.h"

namespace tilewright {

// Tiles that a task computes one after another.
struct TaskSteps {
  int axis;       // of the output
  int64_t tiles;  // of one task along it; above 1
};
bool operator==(const TaskSteps& a, const TaskSteps& b);

struct StageDecision {
  // Family of its reduction, or else of its result; kInput: nobody has asked.
  ComputeFamily family = ComputeFamily::kInput;
  // Steps of its reduction along one axis, over what stages before it compute,
  // that are taken at a time: those stages compute as much in each block, and
  // its sums stay in scratch meanwhile. 0: all.
  int64_t reduce_step = 0;
  int reduce_axis = 0;  // of the reduction's axes
  // The stage in whose blocks it is computed; -1: once for a tile.
  int in_blocks_of = -1;
  // Its reductions run over those blocks too and follow them, as those of
  // softmax do (sketch/trace/primitive.h, rolling_update).
  bool follows = false;
  // The dimension of its result along which the tiles of a task compute only
  // what the tile before has not; -1: each computes all that it needs.
  int rolls_along = -1;
  // Whether its tile is kept for the stages that read it, or written; not of a
  // result that goes straight into the padding around it.
  bool held = true;
  // Bytes of a tile in scratch, with the padding between its runs; 0: those of
  // its elements.
  int64_t scratch_bytes = 0;
};

struct TilePlan {
  std::vector<int64_t> tile;  // of the output; empty: there is none
  std::optional<TaskSteps> steps;
  std::vector<StageDecision> stages;  // by stage; empty: nobody has asked
  // On GPUs: how the threads of a block divide that tile; block->tile == tile.
  std::optional<BlockTile> block;
  bool generated = false;

  // Steps that the last stage takes at a time (StageDecision).
  int64_t reduce_step() const {
    return stages.empty() ? 0 : stages.back().reduce_step;
  }
  // "[4, 128], 3 tiles of d1 in a row, 64 steps at a time".
  std::string ToString() const;
};
// Whether both are computed in the same way, whoever decided that and whatever
// lies between the elements.
bool SameTiles(const TilePlan& a, const TilePlan& b);

// The decisions about a stage, in words; empty if its family is the only one.
std::string ToString(const StageDecision& stage);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_TILE_PLAN_H_

// Wishes of a planner for a fused group, beside which computes are its stages
// (Workload::stages): the preferred answers of its generator
// (fused_schedule.h). Schedule::tile_plan has what became of them.
#ifndef TILEWRIGHT_SKETCH_TRACE_FUSED_WISHES_H_
#define TILEWRIGHT_SKETCH_TRACE_FUSED_WISHES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

struct FusedWishes {
  struct Stage {
    // How the whole result would lie in memory; a tile of it lies alike.
    Layout layout;
    // Steps of its reduction that are taken at a time, 0 for all
    // (tilegraph/plan/plan.h); rounded up to what its operands keep together.
    int64_t reduce_step = 0;
  };
  // One per stage of the workload. Empty: results are row-major, reductions
  // take all their steps.
  std::vector<Stage> stages;
  // The part of the last stage's result that a task computes, per dimension.
  // Empty: all of it.
  std::vector<int64_t> tile;

  // Equal text, equal wishes: one line for the tile, one per stage.
  std::string ToString() const;
  // The inverse of ToString. InvalidArgument says which line does not parse.
  static absl::StatusOr<FusedWishes> Parse(std::string_view text);
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_FUSED_WISHES_H_

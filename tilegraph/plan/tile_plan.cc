#include "tilegraph/plan/tile_plan.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright {
namespace {

auto Tie(const StageDecision& stage) {
  return std::tie(stage.family, stage.reduce_step, stage.reduce_axis,
                  stage.in_blocks_of, stage.follows, stage.rolls_along,
                  stage.held);
}

}  // namespace

bool operator==(const TaskSteps& a, const TaskSteps& b) {
  return a.axis == b.axis && a.tiles == b.tiles;
}

bool SameTiles(const TilePlan& a, const TilePlan& b) {
  return a.tile == b.tile && a.steps == b.steps &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(),
                    b.stages.end(),
                    [](const StageDecision& one, const StageDecision& other) {
                      return Tie(one) == Tie(other);
                    });
}

std::string TilePlan::ToString() const {
  std::string text = absl::StrCat("[", absl::StrJoin(tile, ", "), "]");
  if (steps)
    absl::StrAppend(&text, ", ", steps->tiles, " tiles of d", steps->axis,
                    " in a row");
  if (reduce_step() > 0)
    absl::StrAppend(&text, ", ", reduce_step(), " steps at a time");
  if (block) absl::StrAppend(&text, ", ", block->ToString());
  return text;
}

std::string ToString(const StageDecision& stage) {
  std::string text;
  const auto add = [&](const std::string& more) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", more);
  };
  if (stage.reduce_step > 0)
    add(absl::StrCat("by ", stage.reduce_step, " steps"));
  if (stage.follows) {
    add(absl::StrCat("follows the blocks of stage ", stage.in_blocks_of));
  } else if (stage.in_blocks_of >= 0) {
    add(absl::StrCat("in the blocks of stage ", stage.in_blocks_of));
  }
  if (stage.rolls_along >= 0)
    add(absl::StrCat("rolls along d", stage.rolls_along));
  if (!stage.held) add("goes straight into its padding");
  return text;
}

}  // namespace tilewright

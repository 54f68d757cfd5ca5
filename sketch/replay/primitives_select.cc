// block and loop: name what later instructions use.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {

absl::StatusOr<Results> ApplyBlock(Replayer& replayer, const Arguments& args) {
  if (FindBlock(replayer.tree(), args.text).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no block '", args.text, "'"));
  }
  return Results{HandleValue::OfBlock(args.text)};
}

absl::StatusOr<Results> ApplyLoop(Replayer& replayer, const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  const Block& block = *path.back().node().block;
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    const Axis& axis = i < block.axes.size()
                           ? block.axes[i]
                           : block.reduce_axes[i - block.axes.size()];
    if (axis.name != args.text) continue;
    std::vector<Loop*> loops = LoopsAround(path);
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
      if (Mentions(block.bindings[i], (*it)->var))
        return Results{HandleValue::OfLoop((*it)->var)};
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "no loop runs over axis '", args.text, "' of ", block.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(block.name, " has no axis '", args.text, "'"));
}

}  // namespace tilewright::sketch

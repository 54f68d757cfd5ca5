// rolling: along a loop, a block computes what no iteration before has.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// Ok if the block is alone in the loops of `path` from `depth` inwards.
absl::Status CheckAlone(const Path& path, size_t depth) {
  for (size_t i = depth + 1; i < path.size(); ++i) {
    if (path[i].siblings->size() != 1)
      return absl::InvalidArgumentError(
          absl::StrCat(path.back().node().block->name,
                       " shares its loops; rolling comes before compute_at"));
  }
  return absl::OkStatus();
}

bool MayRoll(const Layout& layout, int dim) {
  return std::count_if(layout.digits().begin(), layout.digits().end(),
                       [&](const Layout::Digit& digit) {
                         return digit.dim == dim && digit.extent > 1;
                       }) == 1;
}

}  // namespace

absl::StatusOr<Results> ApplyRolling(Replayer& replayer,
                                     const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(const Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(const Path loop_path,
                      replayer.FindLoopOf(args.operands[1]));
  Block& block = *path.back().node().block;
  const Loop& loop = *loop_path.back().node().loop;
  const size_t depth = loop_path.size();
  if (loop.kind != LoopKind::kSerial)
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is not serial"));
  if (CommonDepth(path, loop_path) != depth)
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is not around ", block.name));
  if (block.rolling)
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " rolls already"));
  TW_RETURN_IF_ERROR(CheckAlone(path, depth));

  // The one dimension of the held region that moves with the loop.
  const RangeOf ranges = LoopRanges(tree);
  const Buffer& first = tree.buffers[block.dst[0]];
  int dim = -1;
  int64_t step = 0;
  for (size_t i = 0; i < first.origin.size(); ++i) {
    if (!Mentions(first.origin[i], loop.var)) continue;
    if (dim >= 0)
      return absl::InvalidArgumentError(absl::StrCat(
          "several axes of ", block.name, " move with loop ", loop.name));
    dim = static_cast<int>(i);
    step = ToLinear(first.origin[i], ranges).CoefficientOf(loop.var);
  }
  if (dim < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("the part of ", block.name,
                     " that is held does not move with loop ", loop.name));
  const int64_t held = first.layout.shape()[dim];
  if (step < 1 || step >= held)
    return absl::InvalidArgumentError(absl::StrCat(
        "the parts of ", block.name, " that the iterations of loop ", loop.name,
        " need do not overlap in steps"));
  block.rolling =
      Rolling{loop.var,
              dim,
              Simplify(first.origin[dim] + Expr::Int(held - step), ranges),
              {held - step, step}};
  for (const int dst : block.dst) {
    Buffer& buffer = tree.buffers[dst];
    if (buffer.level != MemLevel::kScratch || !MayRoll(buffer.layout, dim))
      return absl::InvalidArgumentError(
          absl::StrCat(buffer.name, " cannot keep what iterations share"));
    buffer.layout = buffer.layout.Rolling(dim, step * (loop.extent - 1) + held);
    buffer.origin[dim] = Simplify(
        Substitute(
            buffer.origin[dim],
            [&](int var) { return var == loop.var ? Expr::Int(0) : Expr(); }),
        ranges);
  }
  return Results{};
}

}  // namespace tilewright::sketch

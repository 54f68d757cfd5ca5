// skip_zeros: steps of a sum that read known zeros combine nothing.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/replay/zero_steps.h"
#include "tilegraph/analysis/known_zeros.h"

namespace tilewright::sketch {
namespace {

// Dimensions of a tensor, "2,3".
absl::StatusOr<std::vector<int>> ParseDims(const std::string& text, int rank) {
  std::vector<int> dims;
  for (const auto& part : absl::StrSplit(text, ',')) {
    int dim = -1;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0 || dim >= rank) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", part, "' is no dimension: there are ", rank, " of them"));
    }
    dims.push_back(dim);
  }
  return dims;
}

// The ranges of the block's axes, by ordinal.
RangeOf RangesOf(const Block& block) {
  std::vector<int64_t> extents;
  for (const auto* axes : {&block.axes, &block.reduce_axes}) {
    for (const Axis& axis : *axes) extents.push_back(axis.extent.value());
  }
  return [extents = std::move(extents)](int axis) -> std::optional<Range> {
    if (axis < 0 || axis >= static_cast<int>(extents.size()))
      return std::nullopt;
    return Range{0, extents[axis] - 1};
  };
}

}  // namespace

absl::StatusOr<Results> ApplySkipZeros(Replayer& replayer,
                                       const Arguments& args) {
  BlockTree& tree = replayer.tree();
  const TensorGraph& graph = replayer.workload().graph;
  TW_ASSIGN_OR_RETURN(const Path path, replayer.FindBlockOf(args.operands[0]));
  Block& block = *path.back().node().block;
  if (!block.combiner || block.combiner->kind() != Combiner::Kind::kSum ||
      block.body.size() != 1 || block.nonzero || block.rescaling ||
      !block.intrinsic.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " is no plain sum"));
  }
  const std::vector<std::string> words = absl::StrSplit(args.text, ' ');
  const std::optional<TensorId> id = graph.Find(words[0]);
  if (words.size() != 2 || !id) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", args.text, "' names no tensor and dimensions, as in 'X 2,3'"));
  }
  const std::vector<int64_t> shape = graph.tensor(*id).static_shape();
  TW_ASSIGN_OR_RETURN(const std::vector<int> dims,
                      ParseDims(words[1], static_cast<int>(shape.size())));
  const std::map<TensorId, KnownZeros> known =
      FindKnownZeros(graph, replayer.workload().zeros);
  const auto zeros = known.find(*id);
  if (zeros == known.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no element of ", words[0], " is known to be zero"));
  }
  const RangeOf ranges = RangesOf(block);
  Expr nonzero;
  Visit(block.body[0], [&](const Expr& load) {
    if (load.op() != Op::kLoad || tree.buffers[load.source()].tensor != *id ||
        !VanishesWith(block.body[0], load))
      return;
    for (const int dim : dims) {
      const Expr reads = ReadsNoZero(load, zeros->second, dim, shape, ranges);
      if (!reads) continue;
      nonzero = nonzero ? Expr::Make(Op::kAnd, {nonzero, reads}) : reads;
    }
  });
  if (!nonzero) {
    return absl::InvalidArgumentError(
        absl::StrCat("no step of ", block.name,
                     " multiplies by a known zero of ", words[0]));
  }
  block.nonzero = nonzero;
  return Results{};
}

}  // namespace tilewright::sketch

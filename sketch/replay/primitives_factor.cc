// factor_out: what multiplies every term of a sum multiplies the sum instead.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/online_reduction.h"
#include "sketch/replay/replayer.h"
#include "sketch/tree/block_nest.h"

namespace tilewright::sketch {

absl::StatusOr<Results> ApplyFactorOut(Replayer& replayer,
                                       const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(const Path path, replayer.FindBlockOf(args.operands[0]));
  Block& block = *path.back().node().block;
  const bool sum = block.combiner &&
                   block.combiner->kind() == Combiner::Kind::kSum &&
                   !block.LeavesStepsOut() && block.intrinsic.empty() &&
                   !block.rescaling && !block.rolling;
  if (!sum || !HoldsWholeTensor(tree, tree.buffers[block.dst[0]]))
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " is no sum, or is placed already"));
  const int target = block.dst[0];
  const DType dtype = block.combiner->component_dtype(0);
  const int sums = static_cast<int>(tree.buffers.size());
  std::vector<Expr> index;
  for (size_t i = 0; i < block.axes.size(); ++i)
    index.push_back(Expr::Var(static_cast<int>(i), block.axes[i].name));
  const std::optional<FactoredSum> factored =
      FactorOut(block.body[0], static_cast<int>(block.axes.size()),
                Expr::Load(sums, dtype, index));
  if (!factored)
    return absl::InvalidArgumentError(absl::StrCat(
        "no factor of ", block.name, " is the same in all its steps"));
  std::vector<HeldDim> whole;
  for (const Axis& axis : block.axes)
    whole.push_back({Expr::Int(0), axis.extent.value()});
  Buffer buffer;
  buffer.id = sums;
  buffer.name = UniqueBufferName(tree, tree.buffers[target].name + ".sum");
  buffer.tensor = -1;
  buffer.dtype = dtype;
  buffer.level = MemLevel::kScratch;
  HoldRegion(buffer, whole);
  tree.buffers.push_back(std::move(buffer));
  Block map;
  map.name = block.name;
  map.axes = block.axes;
  map.dst = {target};
  map.dst_index = std::move(index);
  map.body = {factored->whole};
  block.name = UniqueBlockName(tree, block.name + ".sum");
  block.dst = {sums};
  block.body[0] = factored->steps;
  const std::string name = block.name;
  std::vector<NodePtr>& roots = *path.front().siblings;
  roots.insert(
      roots.begin() + static_cast<std::ptrdiff_t>(path.front().index) + 1,
      NestOverRegion(tree, std::move(map), whole, {}));
  return Results{HandleValue::OfBlock(name)};
}

}  // namespace tilewright::sketch

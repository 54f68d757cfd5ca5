#include "sketch/tree/block_nest.h"

#include <utility>

#include "base/check.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {

NodePtr NestOverRegion(BlockTree& tree, Block block,
                       const std::vector<HeldDim>& region,
                       std::vector<Expr> predicates) {
  TW_CHECK_EQ(region.size(), block.axes.size());
  std::vector<Loop> loops;
  block.predicates = std::move(predicates);
  block.bindings.clear();
  for (size_t i = 0; i < block.axes.size() + block.reduce_axes.size(); ++i) {
    bool reduce = i >= block.axes.size();
    const Axis& axis =
        reduce ? block.reduce_axes[i - block.axes.size()] : block.axes[i];
    Loop loop;
    loop.var = tree.num_vars++;
    loop.name = axis.name;
    loop.extent = reduce ? axis.extent.value() : region[i].extent;
    Expr value = Expr::Var(loop.var, loop.name);
    if (!reduce) {
      value = region[i].base + value;
      if (region[i].clip_below)
        block.predicates.push_back(Expr::Make(Op::kGe, {value, Expr::Int(0)}));
      if (region[i].clip_above)
        block.predicates.push_back(
            Expr::Make(Op::kLt, {value, Expr::Int(axis.extent.value())}));
    }
    block.bindings.push_back(std::move(value));
    loops.push_back(std::move(loop));
  }
  return NestLoops(std::move(loops), MakeBlockNode(std::move(block)));
}

void HoldRegion(Buffer& buffer, const std::vector<HeldDim>& region) {
  std::vector<int64_t> shape;
  buffer.origin.clear();
  for (const HeldDim& dim : region) {
    buffer.origin.push_back(dim.base);
    shape.push_back(dim.extent);
  }
  buffer.layout = Layout::RowMajor(shape);
}

}  // namespace tilewright::sketch

// rfactor: a reduction in two stages. The steps of one reduce loop each get a
// partial result of their own; the block then reduces the partial results.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/tree/block_nest.h"
#include "sketch/tree/block_region.h"
#include "sketch/tree/coverage.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// How the reduce axes of a block fall apart: those that share no loop with the
// factored one stay, the others are replaced by their loops.
struct Division {
  std::vector<bool> replaced;         // by reduce axis
  std::set<int> vars;                 // the loops of the replaced ones
  std::vector<const Loop*> reducing;  // those but the factored, outermost first
};

Division Divide(const Block& block, int factor,
                const std::vector<const Loop*>& around) {
  Division division;
  division.replaced.assign(block.reduce_axes.size(), false);
  division.vars = {factor};
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t r = 0; r < division.replaced.size(); ++r) {
      const Expr& binding = ReduceBinding(block, r);
      if (division.replaced[r] || !MentionsAny(binding, division.vars))
        continue;
      division.replaced[r] = grows = true;
      division.vars.merge(VarsOf(binding));
    }
  }
  for (const Loop* loop : around) {
    if (loop->var != factor && division.vars.count(loop->var) != 0)
      division.reducing.push_back(loop);
  }
  return division;
}

// `name`, or `name` with a number, that none of `taken` is; takes it.
std::string Take(std::set<std::string>& taken, const std::string& name) {
  std::string unique = name;
  for (int i = 1; !taken.insert(unique).second; ++i)
    unique = absl::StrCat(name, i);
  return unique;
}

// The block of the partial results: the given one, whose steps along `factor`
// have become an axis of its own, the last spatial one. It has no destination
// yet.
absl::StatusOr<Block> Partial(const Block& block, const Loop& factor,
                              const Division& division) {
  Block partial;
  partial.axes = block.axes;
  partial.combiner = block.combiner;
  partial.result = block.result;
  partial.bindings.assign(block.bindings.begin(),
                          block.bindings.begin() + block.axes.size());
  std::set<std::string> names;
  for (const Axis& axis : block.axes) names.insert(axis.name);
  for (size_t r = 0; r < block.reduce_axes.size(); ++r) {
    if (!division.replaced[r]) names.insert(block.reduce_axes[r].name);
  }
  const auto add = [&](std::vector<Axis>& axes, const Loop& loop) {
    axes.push_back({Take(names, loop.name), Dim(loop.extent)});
    partial.bindings.push_back(Expr::Var(loop.var, loop.name));
    return Expr::Var(static_cast<int>(partial.bindings.size()) - 1,
                     axes.back().name);
  };
  std::map<int, Expr> axis_of;  // loop -> axis
  axis_of[factor.var] = add(partial.axes, factor);
  std::map<int, Expr> values;  // old axis -> over the new ones
  for (size_t r = 0; r < block.reduce_axes.size(); ++r) {
    if (division.replaced[r]) continue;
    values[static_cast<int>(block.axes.size() + r)] = Expr::Var(
        static_cast<int>(partial.bindings.size()), block.reduce_axes[r].name);
    partial.reduce_axes.push_back(block.reduce_axes[r]);
    partial.bindings.push_back(ReduceBinding(block, r));
  }
  for (const Loop* loop : division.reducing)
    axis_of[loop->var] = add(partial.reduce_axes, *loop);
  if (partial.reduce_axes.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", factor.name, " is the only one that reduces ",
                     block.name, "; split it first"));
  }
  const auto over_axes = [&](const Expr& expr) {
    return Substitute(expr, [&](int var) {
      auto it = axis_of.find(var);
      return it == axis_of.end() ? Expr() : it->second;
    });
  };
  for (size_t r = 0; r < block.reduce_axes.size(); ++r) {
    if (division.replaced[r])
      values[static_cast<int>(block.axes.size() + r)] =
          over_axes(ReduceBinding(block, r));
  }
  const auto renumbered = [&](const Expr& expr) {
    return Substitute(expr, [&](int axis) {
      auto it = values.find(axis);
      return it == values.end() ? Expr() : it->second;
    });
  };
  for (const Expr& body : block.body) partial.body.push_back(renumbered(body));
  if (block.guard) partial.guard = renumbered(block.guard);
  if (block.nonzero) partial.nonzero = renumbered(block.nonzero);
  // A predicate that keeps a replaced axis below its extent becomes part of the
  // computation: its loops are axes of their own now.
  for (const Expr& p : block.predicates) {
    if (!MentionsAny(p, division.vars)) {
      partial.predicates.push_back(p);
      continue;
    }
    std::set<int> vars;
    vars.merge(VarsOf(p));
    for (int var : vars) {
      if (division.vars.count(var) == 0)
        return absl::InvalidArgumentError(
            absl::StrCat("the predicate ", p.ToString(), " of ", block.name,
                         " speaks of other loops too"));
    }
    const Expr holds = over_axes(p);
    partial.guard =
        partial.guard ? Expr::Make(Op::kAnd, {partial.guard, holds}) : holds;
  }
  return partial;
}

}  // namespace

absl::StatusOr<Results> ApplyRFactor(Replayer& replayer,
                                     const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(Path loop_path, replayer.FindLoopOf(args.operands[1]));
  Node& node = path.back().node();
  const Loop& factor = *loop_path.back().node().loop;
  if (!node.block->combiner)
    return absl::InvalidArgumentError(
        absl::StrCat(node.block->name, " is no reduction"));
  if (!node.block->combiner->associative() ||
      !node.block->combiner->commutative()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the order of ", node.block->name, "'s steps must not change"));
  }
  if (node.block->rescaling)
    return absl::InvalidArgumentError(
        absl::StrCat("the steps of ", node.block->name, " have an order"));
  if (!node.block->intrinsic.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(node.block->name, " is an intrinsic"));
  if (CommonDepth(path, loop_path) != loop_path.size() ||
      !CarriesReduction(factor, *node.block)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "loop ", factor.name, " does not reduce ", node.block->name));
  }

  std::vector<const Loop*> around;
  for (const Loop* loop : LoopsAround(path)) around.push_back(loop);
  const Division division = Divide(*node.block, factor.var, around);
  for (size_t i = 0; i < node.block->axes.size(); ++i) {
    if (MentionsAny(node.block->bindings[i], division.vars))
      return absl::InvalidArgumentError(
          absl::StrCat("loops of axis ", node.block->axes[i].name, " of ",
                       node.block->name, " carry the reduction too"));
  }
  TW_ASSIGN_OR_RETURN(Block partial, Partial(*node.block, factor, division));

  // The second stage stands after the outermost reduce loop, over the same part
  // of the spatial axes.
  size_t outermost = 0;
  while (!CarriesReduction(*path[outermost].node().loop, *node.block))
    ++outermost;
  const RangeOf ranges = LoopRanges(tree);
  std::set<int> inner;
  for (size_t i = outermost; i + 1 < path.size(); ++i)
    inner.insert(path[i].node().loop->var);
  const auto is_inner = [&](int var) { return inner.count(var) != 0; };
  Block last = *node.block;
  last.predicates = InitPredicates(last);
  Region region;
  std::vector<int64_t> shape;
  for (size_t i = 0; i < last.axes.size(); ++i) {
    shape.push_back(last.axes[i].extent.value());
    region.push_back(IteratedRegion(last.bindings[i], shape.back(),
                                    last.predicates, is_inner, ranges));
    if (!region.back().exact ||
        (region.back().step != 1 && region.back().extent != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "inside its reduce loops ", last.name,
          " does not run over a dense part of axis ", last.axes[i].name));
    }
  }
  const std::vector<HeldDim> held = Hold(region, shape, ranges);
  const std::vector<Expr> outer_predicates = FixedPredicates(last, is_inner);

  // Buffers of the partial results: one per component, of the accumulators'
  // types.
  std::vector<HeldDim> partial_held = held;
  partial_held.push_back({Expr::Int(0), factor.extent});
  std::vector<Expr> index;
  for (size_t i = 0; i < partial.axes.size(); ++i)
    index.push_back(Expr::Var(static_cast<int>(i), partial.axes[i].name));
  partial.dst_index = index;
  const std::string name = UniqueBlockName(tree, last.name + ".rf");
  partial.name = name;
  for (size_t c = 0; c < last.dst.size(); ++c) {
    Buffer buffer;
    buffer.id = static_cast<int>(tree.buffers.size());
    buffer.name =
        UniqueBufferName(tree, tree.buffers[last.dst[c]].name + ".rf");
    buffer.tensor = -1;
    buffer.dtype = last.combiner->component_dtype(static_cast<int>(c));
    buffer.level = MemLevel::kScratch;
    HoldRegion(buffer, partial_held);
    partial.dst.push_back(buffer.id);
    last.body[c] = Expr::Load(buffer.id, buffer.dtype, index);
    tree.buffers.push_back(std::move(buffer));
  }
  last.reduce_axes = {partial.axes.back()};
  last.guard = last.nonzero = Expr();

  node.block = std::move(partial);
  const std::string last_name = last.name;
  const int target = last.dst[0];
  NodePtr nest = NestOverRegion(tree, std::move(last), held, outer_predicates);
  std::vector<NodePtr>& siblings = *path[outermost].siblings;
  siblings.insert(
      siblings.begin() + static_cast<std::ptrdiff_t>(path[outermost].index) + 1,
      std::move(nest));

  if (tree.buffers[target].level == MemLevel::kGlobal) {
    Path last_path = FindBlock(tree, last_name);
    const Block& placed = *last_path.back().node().block;
    std::vector<const Loop*> loops;
    for (const Loop* loop : LoopsAround(last_path)) {
      if (!CarriesReduction(*loop, placed)) loops.push_back(loop);
    }
    if (CoversOnce(placed, 0, shape.size(), loops, LoopRanges(tree)) !=
        Coverage::kYes) {
      return absl::InvalidArgumentError(absl::StrCat(
          last_name, " would not compute every element exactly once"));
    }
  }
  return Results{HandleValue::OfBlock(name)};
}

}  // namespace tilewright::sketch

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

absl::Status CheckFactorable(const Block& block) {
  if (!block.combiner)
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " is no reduction"));
  if (!block.combiner->associative() || !block.combiner->commutative()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the order of ", block.name, "'s steps must not change"));
  }
  if (block.rescaling)
    return absl::InvalidArgumentError(
        absl::StrCat("the steps of ", block.name, " have an order"));
  if (!block.intrinsic.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " is an intrinsic"));
  return absl::OkStatus();
}

// The second stage, which reduces the partial results: it stands after the
// outermost reduce loop, over the same part of the spatial axes.
struct LastStage {
  size_t outermost = 0;  // the position of that loop in the block's path
  Block block;
  std::vector<HeldDim> held;  // the part of the spatial axes
  std::vector<Expr> outer_predicates;
};

absl::StatusOr<LastStage> MakeLastStage(const BlockTree& tree,
                                        const Path& path) {
  const Block& block = *path.back().node().block;
  LastStage stage;
  while (!CarriesReduction(*path[stage.outermost].node().loop, block))
    ++stage.outermost;
  const RangeOf ranges = LoopRanges(tree);
  std::set<int> inner;
  for (size_t i = stage.outermost; i + 1 < path.size(); ++i)
    inner.insert(path[i].node().loop->var);
  const auto is_inner = [&](int var) { return inner.count(var) != 0; };
  stage.block = block;
  stage.block.predicates = InitPredicates(block);
  Region region;
  std::vector<int64_t> shape;
  for (size_t i = 0; i < block.axes.size(); ++i) {
    shape.push_back(block.axes[i].extent.value());
    region.push_back(IteratedRegion(block.bindings[i], shape.back(),
                                    stage.block.predicates, is_inner, ranges));
    if (!region.back().exact ||
        (region.back().step != 1 && region.back().extent != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "inside its reduce loops ", block.name,
          " does not run over a dense part of axis ", block.axes[i].name));
    }
  }
  stage.held = Hold(region, shape, ranges);
  stage.outer_predicates = FixedPredicates(stage.block, is_inner);
  return stage;
}

// Adds buffers of the partial results, one per component, of the accumulators'
// types: `partial` writes them, `last` reads them.
void HoldPartialResults(BlockTree& tree, std::vector<HeldDim> held,
                        int64_t factor_extent, Block& partial, Block& last) {
  held.push_back({Expr::Int(0), factor_extent});
  std::vector<Expr> index;
  for (size_t i = 0; i < partial.axes.size(); ++i)
    index.push_back(Expr::Var(static_cast<int>(i), partial.axes[i].name));
  partial.dst_index = index;
  partial.name = UniqueBlockName(tree, last.name + ".rf");
  for (size_t c = 0; c < last.dst.size(); ++c) {
    Buffer buffer;
    buffer.id = static_cast<int>(tree.buffers.size());
    buffer.name =
        UniqueBufferName(tree, tree.buffers[last.dst[c]].name + ".rf");
    buffer.tensor = -1;
    buffer.dtype = last.combiner->component_dtype(static_cast<int>(c));
    buffer.level = MemLevel::kScratch;
    HoldRegion(buffer, held);
    partial.dst.push_back(buffer.id);
    last.body[c] = Expr::Load(buffer.id, buffer.dtype, index);
    tree.buffers.push_back(std::move(buffer));
  }
  last.reduce_axes = {partial.axes.back()};
  last.guard = last.nonzero = Expr();
}

// InvalidArgument if the block leaves the group and computes an element twice.
absl::Status CheckWrittenOnce(BlockTree& tree, const std::string& name) {
  Path path = FindBlock(tree, name);
  const Block& block = *path.back().node().block;
  if (tree.buffers[block.dst[0]].level != MemLevel::kGlobal)
    return absl::OkStatus();
  std::vector<const Loop*> loops;
  for (const Loop* loop : LoopsAround(path)) {
    if (!CarriesReduction(*loop, block)) loops.push_back(loop);
  }
  if (CoversOnce(block, 0, block.axes.size(), loops, LoopRanges(tree)) ==
      Coverage::kYes)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " would not compute every element exactly once"));
}

}  // namespace

absl::StatusOr<Results> ApplyRFactor(Replayer& replayer,
                                     const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(Path loop_path, replayer.FindLoopOf(args.operands[1]));
  Node& node = path.back().node();
  const Loop& factor = *loop_path.back().node().loop;
  TW_RETURN_IF_ERROR(CheckFactorable(*node.block));
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
  TW_ASSIGN_OR_RETURN(LastStage last, MakeLastStage(tree, path));
  HoldPartialResults(tree, last.held, factor.extent, partial, last.block);
  const std::string name = partial.name, last_name = last.block.name;

  node.block = std::move(partial);
  NodePtr nest = NestOverRegion(tree, std::move(last.block), last.held,
                                last.outer_predicates);
  std::vector<NodePtr>& siblings = *path[last.outermost].siblings;
  siblings.insert(siblings.begin() +
                      static_cast<std::ptrdiff_t>(path[last.outermost].index) +
                      1,
                  std::move(nest));
  TW_RETURN_IF_ERROR(CheckWrittenOnce(tree, last_name));
  return Results{HandleValue::OfBlock(name)};
}

}  // namespace tilewright::sketch

// compute_at, reverse_compute_at: a block moves into the loops of its consumers
// or of its producers.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/tree/block_nest.h"
#include "sketch/tree/block_region.h"
#include "sketch/tree/coverage.h"
#include "sketch/tree/elementwise.h"

namespace tilewright::sketch {
namespace {

absl::Status CheckMayHoldBlocks(const Loop& loop) {
  if (loop.kind == LoopKind::kTile)
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is part of a tile"));
  for (const NodePtr& child : loop.body) {
    if (loop.kind == LoopKind::kTask && child->loop &&
        child->loop->kind == LoopKind::kTask) {
      return absl::InvalidArgumentError(
          absl::StrCat("loop ", loop.name, " is not the innermost task loop"));
    }
  }
  return absl::OkStatus();
}

// Buffers that `block` reads must be complete wherever it is moved: its
// producers are attached after it.
absl::Status CheckProducersComplete(BlockTree& tree, const Block& block) {
  for (int loaded : LoadedBuffers(block)) {
    if (!HoldsWholeTensor(tree, tree.buffers[loaded])) {
      return absl::InvalidArgumentError(absl::StrCat(
          "only the part of ", tree.buffers[loaded].name, " that ", block.name,
          " needs where it stands is kept; move ", block.name, " first"));
    }
  }
  return absl::OkStatus();
}

// For blocks that write a tensor that leaves the group: in pieces, but each
// element once.
absl::Status CheckCoversOnce(BlockTree& tree, const std::string& name) {
  Path path = FindBlock(tree, name);
  const Block& block = *path.back().node().block;
  std::vector<const Loop*> loops;
  for (Loop* loop : LoopsAround(path)) {
    if (!CarriesReduction(*loop, block)) loops.push_back(loop);
  }
  if (CoversOnce(block, 0, block.axes.size(), loops, LoopRanges(tree)) ==
      Coverage::kYes)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name,
                   " leaves the group, and there it would not be computed "
                   "exactly once per element"));
}

// The variables of the loops on `path` further in than its first `depth` nodes.
IsInner LoopsDeeperThan(const Path& path, size_t depth) {
  std::set<int> vars;
  for (size_t i = depth; i + 1 < path.size(); ++i)
    vars.insert(path[i].node().loop->var);
  return [vars](int var) { return vars.count(var) != 0; };
}

void InsertInto(BlockTree& tree, int loop_var, size_t index, NodePtr node) {
  std::vector<NodePtr>& body =
      FindLoop(tree, loop_var).back().node().loop->body;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(index),
              std::move(node));
}

bool Includes(const std::vector<Expr>& exprs, const Expr& expr) {
  return std::find(exprs.begin(), exprs.end(), expr) != exprs.end();
}

bool IsBelow(const Node& node, const std::string& block) {
  if (node.block) return node.block->name == block;
  std::vector<std::string> names = BlocksBelow(node.loop->body);
  return std::find(names.begin(), names.end(), block) != names.end();
}

// The part of a block's axes that its inner loops compute.
absl::StatusOr<Region> ComputedRegion(const Block& block,
                                      const IsInner& is_inner,
                                      const RangeOf& ranges) {
  Region region;
  for (size_t i = 0; i < block.axes.size(); ++i) {
    region.push_back(IteratedRegion(block.bindings[i],
                                    block.axes[i].extent.value(),
                                    block.predicates, is_inner, ranges));
    if (!region.back().exact)
      return absl::InvalidArgumentError(
          absl::StrCat(block.name, ": ", region.back().why));
  }
  return region;
}

}  // namespace

absl::StatusOr<Results> ApplyComputeAt(Replayer& replayer,
                                       const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(Path loop_path, replayer.FindLoopOf(args.operands[1]));
  const Block& block = *path.back().node().block;
  const Loop& loop = *loop_path.back().node().loop;
  const int loop_var = loop.var;
  TW_RETURN_IF_ERROR(CheckMayHoldBlocks(loop));
  TW_RETURN_IF_ERROR(CheckProducersComplete(tree, block));
  if (block.rolling)
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " rolls where it is"));

  RangeOf ranges = LoopRanges(tree);
  std::optional<Region> needed;
  std::vector<Expr>
      predicates;  // what all consumers demand of the loops outside
  std::set<std::string> consumers;
  for (const Block* consumer : AllBlocks(tree)) {
    if (consumer == &block) continue;
    for (int loaded : LoadedBuffers(*consumer)) {
      if (!WritesTo(block, loaded)) continue;
      Path consumer_path = FindBlock(tree, consumer->name);
      if (CommonDepth(consumer_path, loop_path) != loop_path.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(consumer->name, " reads it outside loop ", loop.name));
      }
      IsInner is_inner = LoopsDeeperThan(consumer_path, loop_path.size());
      TW_ASSIGN_OR_RETURN(Region region, NeededRegion(tree, *consumer, loaded,
                                                      is_inner, ranges));
      std::vector<Expr> fixed = FixedPredicates(*consumer, is_inner);
      if (needed) {
        predicates.erase(
            std::remove_if(predicates.begin(), predicates.end(),
                           [&](const Expr& p) { return !Includes(fixed, p); }),
            predicates.end());
      } else {
        predicates = fixed;
      }
      needed = needed ? Join(*needed, region, ranges) : region;
      consumers.insert(consumer->name);
    }
  }
  if (!needed)
    return absl::InvalidArgumentError(
        absl::StrCat("nothing inside loop ", loop.name, " reads ", block.name));
  std::vector<HeldDim> held =
      Hold(*needed, LogicalShape(tree, block.dst[0]), ranges);

  const bool leaves_group =
      tree.buffers[block.dst[0]].level == MemLevel::kGlobal;
  for (int buffer : block.dst) {
    if (!leaves_group) HoldRegion(tree.buffers[buffer], held);
  }
  const std::string name = block.name;
  NodePtr removed = Remove(tree, std::move(path));
  if (leaves_group)
    predicates.clear();  // all of it is needed, whoever reads it
  NodePtr nest = NestOverRegion(tree, *std::move(removed->block), held,
                                std::move(predicates));
  const std::vector<NodePtr>& body =
      FindLoop(tree, loop_var).back().node().loop->body;
  size_t index = 0;
  while (index < body.size() && std::none_of(consumers.begin(), consumers.end(),
                                             [&](const std::string& c) {
                                               return IsBelow(*body[index], c);
                                             })) {
    ++index;
  }
  InsertInto(tree, loop_var, index, std::move(nest));
  if (leaves_group) TW_RETURN_IF_ERROR(CheckCoversOnce(tree, name));
  return Results{};
}

absl::StatusOr<Results> ApplyReverseComputeAt(Replayer& replayer,
                                              const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(Path loop_path, replayer.FindLoopOf(args.operands[1]));
  const Block& block = *path.back().node().block;
  const Loop& loop = *loop_path.back().node().loop;
  const int loop_var = loop.var;
  TW_RETURN_IF_ERROR(CheckMayHoldBlocks(loop));

  RangeOf ranges = LoopRanges(tree);
  std::optional<Region> computed;
  std::vector<Expr>
      predicates;  // where some producer does not run, nothing can be consumed
  std::set<std::string> producers;
  for (int loaded : LoadedBuffers(block)) {
    const Path producer_path = FindWriter(tree, loaded);
    const bool inside =
        !producer_path.empty() &&
        CommonDepth(producer_path, loop_path) == loop_path.size();
    if (!inside) {
      if (HoldsWholeTensor(tree, tree.buffers[loaded])) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("only part of ", tree.buffers[loaded].name,
                       " is kept, for another place"));
    }
    const Block& producer = *producer_path.back().node().block;
    if (!IsElementwiseIn(block, producer, loaded))
      return absl::InvalidArgumentError(
          absl::StrCat(block.name, " is not elementwise in ", producer.name));
    if (CommonDepth(producer_path, path) > loop_path.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(block.name, " stands inside a loop that loop ",
                       loop.name, " is around"));
    }
    const IsInner is_inner = LoopsDeeperThan(producer_path, loop_path.size());
    for (const Expr& p : FixedPredicates(producer, is_inner)) {
      if (!Includes(predicates, p)) predicates.push_back(p);
    }
    TW_ASSIGN_OR_RETURN(const Region region,
                        ComputedRegion(producer, is_inner, ranges));
    computed = computed ? Join(*computed, region, ranges) : region;
    producers.insert(producer.name);
  }
  if (!computed)
    return absl::InvalidArgumentError(
        absl::StrCat("nothing inside loop ", loop.name, " feeds ", block.name));
  for (int buffer : block.dst) {
    if (!HoldsWholeTensor(tree, tree.buffers[buffer])) {
      return absl::InvalidArgumentError(
          absl::StrCat(block.name, " is attached to its consumers already"));
    }
  }
  std::vector<HeldDim> region =
      Hold(*computed, LogicalShape(tree, block.dst[0]), ranges);
  const std::string name = block.name;
  NodePtr removed = Remove(tree, std::move(path));
  NodePtr nest = NestOverRegion(tree, *std::move(removed->block), region,
                                std::move(predicates));
  const std::vector<NodePtr>& body =
      FindLoop(tree, loop_var).back().node().loop->body;
  size_t index = body.size();
  while (index > 0 && std::none_of(producers.begin(), producers.end(),
                                   [&](const std::string& p) {
                                     return IsBelow(*body[index - 1], p);
                                   })) {
    --index;
  }
  InsertInto(tree, loop_var, index, std::move(nest));
  TW_RETURN_IF_ERROR(CheckCoversOnce(tree, name));
  return Results{};
}

}  // namespace tilewright::sketch

// cache_read, cache_write: copies into and out of local buffers.
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/tree/block_nest.h"
#include "sketch/tree/block_region.h"
#include "sketch/tree/coverage.h"

namespace tilewright::sketch {
namespace {

absl::StatusOr<MemLevel> ParseLocalLevel(const std::string& text) {
  if (text == "registers") return MemLevel::kRegisters;
  if (text == "scratch") return MemLevel::kScratch;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown level '", text, "': registers or scratch"));
}

// A new local buffer for part of what `of` holds.
int AddLocal(BlockTree& tree, const std::string& name, const Buffer& of,
             MemLevel level, const std::vector<HeldDim>& held) {
  Buffer local;
  local.id = static_cast<int>(tree.buffers.size());
  local.name = UniqueBufferName(tree, name);
  local.tensor = of.tensor;
  local.dtype = of.dtype;
  local.level = level;
  HoldRegion(local, held);
  tree.buffers.push_back(std::move(local));
  return tree.buffers.back().id;
}

std::vector<Expr> AxisVars(const std::vector<Axis>& axes) {
  std::vector<Expr> vars;
  for (size_t i = 0; i < axes.size(); ++i)
    vars.push_back(Expr::Var(static_cast<int>(i), axes[i].name));
  return vars;
}

}  // namespace

absl::StatusOr<Results> ApplyCacheRead(Replayer& replayer,
                                       const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(Path loop_path, replayer.FindLoopOf(args.operands[1]));
  Block& block = *path.back().node().block;
  Loop& loop = *loop_path.back().node().loop;
  size_t space = args.text.rfind(' ');
  if (space == std::string::npos)
    return absl::InvalidArgumentError("expects 'tensor level'");
  const std::string name = args.text.substr(0, space);
  TW_ASSIGN_OR_RETURN(MemLevel level,
                      ParseLocalLevel(args.text.substr(space + 1)));
  if (CommonDepth(path, loop_path) != loop_path.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is not around ", block.name));
  }
  if (loop.kind == LoopKind::kTile)
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is part of a tile"));
  const Node& next = path[loop_path.size()].node();
  if (next.loop && next.loop->kind == LoopKind::kTask) {
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is not the innermost task loop"));
  }
  int source = -1;
  for (int loaded : LoadedBuffers(block)) {
    if (tree.buffers[loaded].name == name) source = loaded;
  }
  if (source < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " does not read '", name, "'"));

  RangeOf ranges = LoopRanges(tree);
  std::set<int> inner;
  for (size_t i = loop_path.size(); i + 1 < path.size(); ++i)
    inner.insert(path[i].node().loop->var);
  auto is_inner = [&](int var) { return inner.count(var) != 0; };
  TW_ASSIGN_OR_RETURN(Region region,
                      NeededRegion(tree, block, source, is_inner, ranges));
  std::vector<int64_t> shape = LogicalShape(tree, source);
  std::vector<HeldDim> held = Hold(region, shape, ranges);
  Block copy;
  copy.name = UniqueBlockName(tree, name + ".local");
  for (size_t i = 0; i < shape.size(); ++i)
    copy.axes.push_back({absl::StrCat("d", i), Dim(shape[i])});
  copy.dst_index = AxisVars(copy.axes);
  copy.body = {Expr::Load(source, tree.buffers[source].dtype, copy.dst_index)};
  const int local = AddLocal(tree, name + ".local",
                             Buffer(tree.buffers[source]), level, held);
  copy.dst = {local};
  for (Expr& body : block.body) {
    body = Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.source() != source) return Expr();
      return Expr::Load(local, e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  }
  const std::string copy_name = copy.name;
  const size_t index = path[loop_path.size()].index;
  loop.body.insert(loop.body.begin() + static_cast<std::ptrdiff_t>(index),
                   NestOverRegion(tree, std::move(copy), held,
                                  FixedPredicates(block, is_inner)));
  return Results{HandleValue::OfBlock(copy_name)};
}

absl::StatusOr<Results> ApplyCacheWrite(Replayer& replayer,
                                        const Arguments& args) {
  BlockTree& tree = replayer.tree();
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(MemLevel level, ParseLocalLevel(args.text));
  Block& block = *path.back().node().block;
  if (!block.combiner)
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " is no reduction"));
  if (block.rescaling)
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " is rescaled where it is"));
  if (block.dst.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the accumulators of ", block.name,
                     " are local already; use set_level"));
  }
  size_t outermost = 0;
  while (outermost + 1 < path.size() &&
         !CarriesReduction(*path[outermost].node().loop, block))
    ++outermost;
  if (outermost + 1 >= path.size())
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " has no reduce loop"));

  RangeOf ranges = LoopRanges(tree);
  std::set<int> inner;
  for (size_t i = outermost; i + 1 < path.size(); ++i)
    inner.insert(path[i].node().loop->var);
  auto is_inner = [&](int var) { return inner.count(var) != 0; };
  Region region;
  std::vector<int64_t> shape;
  for (size_t i = 0; i < block.axes.size(); ++i) {
    shape.push_back(block.axes[i].extent.value());
    region.push_back(IteratedRegion(block.bindings[i], shape.back(),
                                    block.predicates, is_inner, ranges));
    if (!region.back().exact ||
        (region.back().step != 1 && region.back().extent != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "inside its reduce loops ", block.name,
          " does not run over a dense part of axis ", block.axes[i].name));
    }
  }
  // Predicates of the loops outside hold for the copy too; those of loops
  // inside are in the region.
  std::vector<Expr> predicates = FixedPredicates(block, is_inner);
  std::vector<HeldDim> held = Hold(region, shape, ranges);
  const int target = block.dst[0];
  const int local = AddLocal(tree, tree.buffers[target].name + ".acc",
                             Buffer(tree.buffers[target]), level, held);
  Block copy;
  copy.name = UniqueBlockName(tree, block.name + ".out");
  copy.axes = block.axes;
  copy.dst_index = AxisVars(copy.axes);
  copy.dst = {target};
  copy.body = {Expr::Load(local, tree.buffers[local].dtype, copy.dst_index)};
  block.dst = {local};
  copy.rolling = std::exchange(block.rolling, std::nullopt);
  const std::string copy_name = copy.name;
  NodePtr nest =
      NestOverRegion(tree, std::move(copy), held, std::move(predicates));
  std::vector<NodePtr>& siblings = *path[outermost].siblings;
  siblings.insert(
      siblings.begin() + static_cast<std::ptrdiff_t>(path[outermost].index) + 1,
      std::move(nest));

  Path copy_path = FindBlock(tree, copy_name);
  std::vector<const Loop*> loops;
  for (Loop* l : LoopsAround(copy_path)) loops.push_back(l);
  if (tree.buffers[target].level == MemLevel::kGlobal &&
      CoversOnce(*copy_path.back().node().block, 0, shape.size(), loops,
                 LoopRanges(tree)) != Coverage::kYes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the copy out of ", block.name,
                     " would not write every element exactly once"));
  }
  return Results{HandleValue::OfBlock(copy_name)};
}

}  // namespace tilewright::sketch

// rolling_update: sums that are made in the pass over what they hang on.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "sketch/replay/online_reduction.h"
#include "sketch/replay/replayer.h"
#include "sketch/replay/rescaled_sums.h"
#include "sketch/tree/block_nest.h"
#include "sketch/tree/block_region.h"

namespace tilewright::sketch {
namespace {

// One reduction that joins a loop over blocks of its steps, of those along its
// first axis.
class Update {
 public:
  Update(Replayer& replayer, Block block, int loop_var, const Factors& blocks)
      : tree_(replayer.tree()),
        block_(std::move(block)),
        loop_var_(loop_var),
        blocks_(blocks[0]),
        steps_(blocks[1]),
        extent_(block_.reduce_axes[0].extent.value()),
        result_(block_.dst[0]) {}

  absl::StatusOr<Results> Run() {
    TW_RETURN_IF_ERROR(FindHeld());
    HoldRegion(tree_.buffers[result_], held_);
    Remove(tree_, FindBlock(tree_, block_.name));
    MakePartial();
    if (!readers_.empty()) {
      TW_ASSIGN_OR_RETURN(rescaling_, RescaleSums(tree_, Running()));
    }
    Insert();
    return Results{HandleValue::OfBlock(partial_.name)};
  }

 private:
  absl::Status Refuse(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(block_.name, what));
  }

  Loop& loop() { return *FindLoop(tree_, loop_var_).back().node().loop; }

  // Finds the parts of the result that are needed inside the loop and behind
  // it.
  absl::Status FindHeld() {
    const Path loop_path = FindLoop(tree_, loop_var_);
    const size_t depth = loop_path.size() - 1;
    const RangeOf ranges = LoopRanges(tree_);
    std::optional<Region> needed;
    for (const Block* reader : AllBlocks(tree_)) {
      if (!Reads(*reader, result_)) continue;
      const Path path = FindBlock(tree_, reader->name);
      const size_t common = CommonDepth(path, loop_path);
      if (common < depth ||
          (common == depth && path[depth].index < loop_path[depth].index))
        return Refuse(absl::StrCat(" is read by ", reader->name,
                                   ", not in its loop or behind it"));
      std::set<int> inner;
      for (size_t i = depth; i + 1 < path.size(); ++i)
        inner.insert(path[i].node().loop->var);
      TW_ASSIGN_OR_RETURN(
          const Region region,
          NeededRegion(
              tree_, *reader, result_,
              [&](int var) { return inner.count(var) != 0; }, ranges));
      needed = needed ? Join(*needed, region, ranges) : region;
      if (common > depth) readers_.push_back(reader->name);
    }
    if (!needed) return Refuse(" is read by nothing");
    held_ = Hold(*needed, LogicalShape(tree_, result_), ranges);
    return absl::OkStatus();
  }

  // The result of one block of steps, and the reduction over blocks.
  void MakePartial() {
    const int spatial = static_cast<int>(block_.axes.size());
    const Loop& loop = this->loop();
    partial_ = block_;
    partial_.name = UniqueBlockName(tree_, block_.name + ".rf");
    partial_.axes.push_back({loop.name, Dim(loop.extent)});
    partial_.reduce_axes[0] = {absl::StrCat(block_.reduce_axes[0].name, ".1"),
                               Dim(steps_)};
    const Expr step = Expr::Var(spatial, loop.name) * Expr::Int(steps_) +
                      Expr::Var(spatial + 1, partial_.reduce_axes[0].name);
    partial_.body[0] = Substitute(block_.body[0], [&](int axis) {
      if (axis < spatial) return Expr();
      if (axis == spatial) return step;
      return Expr::Var(axis + 1, block_.reduce_axes[axis - spatial].name);
    });
    for (size_t r = 1; r < block_.reduce_axes.size(); ++r)
      other_steps_ *= block_.reduce_axes[r].extent.value();
    if (blocks_ * steps_ > extent_)
      partial_.guard = Expr::Make(Op::kLt, {step, Expr::Int(extent_)});
    partial_.dst_index = AxisVars(partial_.axes);
    std::vector<HeldDim> held = held_;
    held.push_back({Expr::Var(loop.var, loop.name), 1});
    const DType dtype = block_.combiner->component_dtype(0);
    partial_.dst = {
        AddScratch(tree_, tree_.buffers[result_].name + ".rf", dtype, held)};
    block_.body[0] = Expr::Load(partial_.dst[0], dtype, partial_.dst_index);
    block_.reduce_axes = {partial_.axes.back()};
    partial_held_ = std::move(held);
  }

  RunningResult Running() const {
    return {block_.name, *block_.combiner,       partial_, result_,
            loop_var_,   extent_ * other_steps_, held_,    readers_};
  }

  // A map over the part of the result that is held.
  Block Map(const std::string& name, int dst, Expr body) {
    Block map;
    map.name = UniqueBlockName(tree_, name);
    map.axes = block_.axes;
    map.dst = {dst};
    map.dst_index = AxisVars(map.axes);
    map.body = {std::move(body)};
    map.running = result_;
    return map;
  }

  // Puts everything before what reads the result in the loop.
  void Insert() {
    const std::string name = block_.name;
    const DType dtype = tree_.buffers[result_].dtype;
    const std::vector<Expr> axes = AxisVars(block_.axes);
    const Expr now = Expr::Load(result_, dtype, axes);
    std::vector<NodePtr> nests;
    nests.push_back(NestOverRegion(tree_, partial_, partial_held_, {}));
    if (rescaling_.rule != nullptr) {
      const auto scratch = [&](const char* suffix) {
        return AddScratch(tree_, tree_.buffers[result_].name + suffix, dtype,
                          held_);
      };
      const int reference = scratch(".now"), before = scratch(".before");
      for (const std::string& reader : readers_) {
        for (Expr& body : FindBlock(tree_, reader).back().node().block->body) {
          body = Rewrite(body, [&](const Expr& e) {
            if (e.op() != Op::kLoad || e.source() != result_) return Expr();
            return Expr::Load(reference, dtype,
                              {e.operands().begin(), e.operands().end()});
          });
        }
      }
      const auto add = [&](const char* suffix, int dst, Expr body) {
        nests.push_back(NestOverRegion(
            tree_, Map(name + suffix, dst, std::move(body)), held_, {}));
      };
      Progress progress = {Expr::Load(before, dtype, axes), now, Expr(), Expr(),
                           extent_ * other_steps_};
      add(".before", before, now);
      nests.push_back(Total());
      if (rescaling_.rule->counts) CountSteps(nests, progress);
      add(".rescaling", rescaling_.correction,
          rescaling_.rule->correction(progress));
      add(".now", reference, rescaling_.rule->reference(progress));
    } else {
      nests.push_back(Total());
    }
    std::vector<NodePtr>& body = loop().body;
    size_t at = 0;
    const auto holds_reader = [&](const Node& node) {
      for (const std::string& reader : readers_) {
        if (node.block ? node.block->name == reader
                       : Contains(BlocksBelow(node.loop->body), reader))
          return true;
      }
      return false;
    };
    while (!readers_.empty() && at < body.size() && !holds_reader(*body[at]))
      ++at;
    for (NodePtr& nest : nests)
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(at++),
                  std::move(nest));
  }

  static bool Contains(const std::vector<std::string>& names,
                       const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // How many steps were taken, from a count of blocks that the loop keeps.
  void CountSteps(std::vector<NodePtr>& nests, Progress& progress) {
    const DType dtype = tree_.buffers[result_].dtype;
    const std::string& of = tree_.buffers[result_].name;
    const auto number = [&](int64_t value) {
      return Expr::Float(static_cast<double>(value), dtype);
    };
    Block count;
    count.name = UniqueBlockName(tree_, block_.name + ".count");
    count.combiner = Combiner(Combiner::Kind::kSum, dtype);
    count.reduce_axes = block_.reduce_axes;
    count.body = {number(1)};
    count.dst = {AddScratch(tree_, of + ".count", dtype, {})};
    count.bindings = {Expr::Var(loop_var_, "block")};
    const int counted = count.dst[0];
    nests.push_back(std::make_unique<Node>());
    nests.back()->block = std::move(count);
    Block blocks;
    blocks.name = UniqueBlockName(tree_, block_.name + ".blocks");
    blocks.dst = {AddScratch(tree_, of + ".blocks", dtype, {})};
    blocks.body = {Expr::Load(counted, dtype, {})};
    blocks.running = counted;
    const Expr taken = Expr::Load(blocks.dst[0], dtype, {});
    nests.push_back(std::make_unique<Node>());
    nests.back()->block = std::move(blocks);
    const Expr per_block = number(steps_ * other_steps_);
    progress.steps_before = Expr::Make(
        Op::kMul, {Expr::Make(Op::kSub, {taken, number(1)}), per_block});
    progress.steps_now = Expr::Make(
        Op::kMin,
        {Expr::Make(Op::kMul, {taken, per_block}), number(progress.steps)});
  }

  NodePtr Total() {
    Block total = block_;
    total.reduce_axes.clear();
    NodePtr nest = NestOverRegion(tree_, std::move(total), held_, {});
    Node* node = nest.get();
    while (node->loop) node = node->loop->body[0].get();
    node->block->reduce_axes = block_.reduce_axes;
    node->block->bindings.push_back(Expr::Var(loop_var_, "block"));
    return nest;
  }

  BlockTree& tree_;
  Block block_;  // the reduction, in the end that over blocks
  const int loop_var_;
  // The first reduce axis: its blocks, the steps of one, and all steps.
  const int64_t blocks_, steps_, extent_;
  const int result_;
  std::vector<HeldDim> held_, partial_held_;
  std::vector<std::string> readers_;  // in the loop
  Block partial_;
  Rescaling rescaling_;
  int64_t other_steps_ = 1;  // along the axes that are not split
};

}  // namespace

absl::StatusOr<Results> ApplyRollingUpdate(Replayer& replayer,
                                           const Arguments& args) {
  TW_ASSIGN_OR_RETURN(const Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(const Path loop_path,
                      replayer.FindLoopOf(args.operands[1]));
  const Block& block = *path.back().node().block;
  const Loop& loop = *loop_path.back().node().loop;
  const Factors& blocks = args.factors[0];
  BlockTree& tree = replayer.tree();
  const auto refused = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(block.name, what));
  };
  if (!block.combiner || block.combiner->arity() != 1 ||
      block.LeavesStepsOut() || block.rescaling || !block.intrinsic.empty() ||
      block.rolling)
    return refused(" is no reduction of one value");
  if (tree.buffers[block.dst[0]].level == MemLevel::kGlobal ||
      tree.buffers[block.dst[0]].dtype != block.combiner->component_dtype(0))
    return refused(" leaves the group, or is of another type than its result");
  if (loop.kind != LoopKind::kSerial || CommonDepth(path, loop_path) != 0)
    return refused(absl::StrCat(" cannot join loop ", loop.name));
  const int64_t steps = block.reduce_axes[0].extent.value();
  if (blocks.size() != 2 || !CheckFactors(blocks, steps).ok() ||
      blocks[0] != loop.extent)
    return refused(absl::StrCat(": [", absl::StrJoin(blocks, ", "),
                                "] does not split its ", steps, " steps into ",
                                loop.extent, " blocks"));
  for (const int loaded : LoadedBuffers(block)) {
    if (!HoldsWholeTensor(tree, tree.buffers[loaded]))
      return refused(" reads what is placed already; move it first");
  }
  return Update(replayer, block, loop.var, blocks).Run();
}

}  // namespace tilewright::sketch

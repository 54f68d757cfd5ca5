// rolling_update: sums that are made in the pass over what they hang on.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/block_nest.h"
#include "sketch/block_region.h"
#include "sketch/replayer.h"
#include "sketch/rolling_repair.h"

namespace tilewright::sketch {
namespace {

std::vector<Expr> AxisVars(const std::vector<Axis>& axes) {
  std::vector<Expr> vars;
  for (size_t i = 0; i < axes.size(); ++i)
    vars.push_back(Expr::Var(static_cast<int>(i), axes[i].name));
  return vars;
}

// A buffer in scratch for what `held` says.
int AddScratch(BlockTree& tree, const std::string& name, DType dtype,
               const std::vector<HeldDim>& held) {
  Buffer buffer;
  buffer.id = static_cast<int>(tree.buffers.size());
  buffer.name = UniqueBufferName(tree, name);
  buffer.tensor = -1;
  buffer.dtype = dtype;
  buffer.level = MemLevel::kScratch;
  HoldRegion(buffer, held);
  tree.buffers.push_back(std::move(buffer));
  return tree.buffers.back().id;
}

bool Reads(const Block& block, int buffer) {
  const std::vector<int> loaded = LoadedBuffers(block);
  return std::find(loaded.begin(), loaded.end(), buffer) != loaded.end();
}

bool IsPlainSum(const Block& block) {
  return block.combiner && block.combiner->kind() == Combiner::Kind::kSum &&
         block.combiner->arity() == 1 && !block.guard &&
         block.intrinsic.empty() && !block.rolling && !block.repair;
}

// One reduction that joins a loop over blocks of its steps.
class Update {
 public:
  Update(Replayer& replayer, Block block, int loop_var, const Decision& split)
      : tree_(replayer.tree()),
        block_(std::move(block)),
        loop_var_(loop_var),
        split_(split),
        result_(block_.dst[0]) {}

  absl::StatusOr<Results> Run() {
    TW_RETURN_IF_ERROR(FindHeld());
    HoldRegion(tree_.buffers[result_], held_);
    Remove(tree_, FindBlock(tree_, block_.name));
    MakePartial();
    TW_RETURN_IF_ERROR(RepairSums());
    Insert();
    return Results{HandleValue::OfBlock(partial_.name)};
  }

 private:
  absl::Status Refuse(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(block_.name, what));
  }

  Loop& loop() { return *FindLoop(tree_, loop_var_).back().node().loop; }

  // What is needed of the result, inside the loop and behind it.
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
    partial_.reduce_axes = {
        {absl::StrCat(block_.reduce_axes[0].name, ".1"), Dim(split_.value[1])}};
    const Expr step =
        Expr::Var(spatial, loop.name) * Expr::Int(split_.value[1]) +
        Expr::Var(spatial + 1, partial_.reduce_axes[0].name);
    partial_.body[0] = Substitute(block_.body[0], [&](int axis) {
      return axis == spatial ? step : Expr();
    });
    if (split_.value[0] * split_.value[1] > split_.extent)
      partial_.guard = Expr::Make(Op::kLt, {step, Expr::Int(split_.extent)});
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

  // The body of a block, with the maps of the loop that read the result
  // inlined.
  Expr Inlined(const Expr& body) {
    return Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.source() == result_) return Expr();
      for (const std::string& name : readers_) {
        const Block& map = *FindBlock(tree_, name).back().node().block;
        if (map.combiner || map.dst[0] != e.source()) continue;
        const DType dtype = tree_.buffers[map.dst[0]].dtype;
        const Expr value = map.body[0].dtype() == dtype
                               ? map.body[0]
                               : Expr::Cast(dtype, map.body[0]);
        return Substitute(value, [&](int axis) { return e.operand(axis); });
      }
      return Expr();
    });
  }

  // Finds the sums in the loop that hang on the result, and has them follow it.
  absl::Status RepairSums() {
    if (readers_.empty()) return absl::OkStatus();
    std::vector<std::string> names;
    for (const std::string& name : BlocksBelow(loop().body))
      names.push_back(name);
    for (const std::string& name : names) {
      Block& step = *FindBlock(tree_, name).back().node().block;
      const bool map = !step.combiner.has_value();
      if (map && tree_.buffers[step.dst[0]].level == MemLevel::kGlobal &&
          Reads(step, result_))
        return Refuse(
            absl::StrCat(" is not final where ", name, " leaves the group"));
      if (map) {
        TW_RETURN_IF_ERROR(CheckReaders(step, names));
        continue;
      }
      if (step.dst.size() != 1) continue;
      const Expr body = Inlined(step.body[0]);
      Expr load;
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad && e.source() == result_) load = e;
      });
      if (!load) continue;
      TW_RETURN_IF_ERROR(RepairSum(step, body, load));
    }
    return absl::OkStatus();
  }

  // What maps of the loop make of a result that is not final is read there
  // only, by sums that are repaired or by maps of which the same holds.
  absl::Status CheckReaders(const Block& map,
                            const std::vector<std::string>& below) {
    if (!Reads(map, result_)) return absl::OkStatus();
    for (const Block* reader : AllBlocks(tree_)) {
      if (!Reads(*reader, map.dst[0])) continue;
      const bool inside =
          std::find(below.begin(), below.end(), reader->name) != below.end();
      if (!inside || !reader->combiner)
        return Refuse(absl::StrCat(" is not final where ", reader->name,
                                   " reads ", map.name));
    }
    return absl::OkStatus();
  }

  // `step`: one block of steps of a sum; `body`: with maps inlined.
  absl::Status RepairSum(Block& step, const Expr& body, const Expr& load) {
    Block* total = nullptr;
    int readers = 0;
    ForEachBlock(tree_.roots, [&](Block& block) {
      if (!Reads(block, step.dst[0])) return;
      total = &block;
      ++readers;
    });
    const size_t spatial = block_.axes.size();
    const bool whole = readers == 1 && IsPlainSum(*total) &&
                       total->reduce_axes.size() == 1 &&
                       ReduceBinding(*total, 0).op() == Op::kVar &&
                       ReduceBinding(*total, 0).var_id() == loop_var_ &&
                       total->body[0].op() == Op::kLoad &&
                       step.axes.size() == total->axes.size() + 1;
    if (!whole)
      return Refuse(absl::StrCat(" cannot be followed by ", step.name,
                                 ", which is no block of steps of a sum"));
    const int blocks_axis = static_cast<int>(total->axes.size());
    const auto reduces = [&](const Expr& x, const Expr& of) {
      std::map<int, Expr> bound;
      for (size_t i = 0; i < spatial; ++i)
        bound.emplace(static_cast<int>(i), of.operand(static_cast<int>(i)));
      if (!Matches(partial_.body[0], x, bound)) return false;
      const auto same_block = bound.find(static_cast<int>(spatial));
      return same_block != bound.end() && same_block->second.op() == Op::kVar &&
             same_block->second.var_id() == blocks_axis;
    };
    const RepairRule* rule = FindRepairRule(*block_.combiner, *step.combiner,
                                            body, result_, reduces);
    bool fixed = true;  // over the axes of the sum alone
    for (const Expr& index : load.operands()) {
      Visit(index, [&](const Expr& e) {
        fixed &= e.op() != Op::kVar || e.var_id() < blocks_axis;
      });
    }
    if (rule == nullptr || !fixed || (rule_ != nullptr && rule_ != rule))
      return Refuse(absl::StrCat(" cannot be followed by ", step.name,
                                 ": there is no repair of a sum of ",
                                 body.ToString()));
    rule_ = rule;
    if (factor_ < 0)
      factor_ = AddScratch(tree_, tree_.buffers[result_].name + ".repair",
                           tree_.buffers[result_].dtype, held_);
    const std::vector<Expr> index(load.operands().begin(),
                                  load.operands().end());
    const DType dtype = tree_.buffers[result_].dtype;
    const int sums = total->dst[0];
    total->repair = Expr::Make(
        Op::kMul,
        {Expr::Load(sums, tree_.buffers[sums].dtype, AxisVars(total->axes)),
         Expr::Load(factor_, dtype, index)});
    // Behind the loop, what is read is what the rule makes of it in the end.
    const std::vector<std::string> below = BlocksBelow(loop().body);
    ForEachBlock(tree_.roots, [&](Block& reader) {
      if (std::find(below.begin(), below.end(), reader.name) != below.end())
        return;
      for (Expr& one : reader.body) {
        one = Rewrite(one, [&](const Expr& e) {
          if (e.op() != Op::kLoad || e.source() != sums) return Expr();
          std::vector<Expr> at;
          for (const Expr& i : index)
            at.push_back(
                Substitute(i, [&](int axis) { return e.operand(axis); }));
          return rule->settled(Expr::Load(result_, dtype, at), e);
        });
      }
    });
    return absl::OkStatus();
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
    if (rule_ != nullptr) {
      const int reference =
          AddScratch(tree_, tree_.buffers[result_].name + ".now", dtype, held_);
      for (const std::string& reader : readers_) {
        for (Expr& body : FindBlock(tree_, reader).back().node().block->body) {
          body = Rewrite(body, [&](const Expr& e) {
            if (e.op() != Op::kLoad || e.source() != result_) return Expr();
            return Expr::Load(reference, dtype,
                              {e.operands().begin(), e.operands().end()});
          });
        }
      }
      const int before = AddScratch(
          tree_, tree_.buffers[result_].name + ".before", dtype, held_);
      const auto add = [&](const char* suffix, int dst, Expr body) {
        nests.push_back(NestOverRegion(
            tree_, Map(name + suffix, dst, std::move(body)), held_, {}));
      };
      add(".before", before, now);
      nests.push_back(Total());
      add(".repair", factor_,
          rule_->factor(Expr::Load(before, dtype, axes), now));
      add(".now", reference, rule_->reference(now));
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
  const Decision& split_;
  const int result_;
  std::vector<HeldDim> held_, partial_held_;
  std::vector<std::string> readers_;  // in the loop
  Block partial_;
  const RepairRule* rule_ = nullptr;
  int factor_ = -1;
};

}  // namespace

absl::StatusOr<Results> ApplyRollingUpdate(Replayer& replayer,
                                           const Arguments& args) {
  TW_ASSIGN_OR_RETURN(const Path path, replayer.FindBlockOf(args.operands[0]));
  TW_ASSIGN_OR_RETURN(const Path loop_path,
                      replayer.FindLoopOf(args.operands[1]));
  const Block& block = *path.back().node().block;
  const Loop& loop = *loop_path.back().node().loop;
  const Decision& split = *args.decisions[0];
  BlockTree& tree = replayer.tree();
  const auto refused = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(block.name, what));
  };
  if (!block.combiner || block.combiner->arity() != 1 ||
      block.reduce_axes.size() != 1 || block.guard || block.repair ||
      !block.intrinsic.empty() || block.rolling)
    return refused(" is no reduction of one value along one axis");
  if (tree.buffers[block.dst[0]].level == MemLevel::kGlobal ||
      tree.buffers[block.dst[0]].dtype != block.combiner->component_dtype(0))
    return refused(" leaves the group, or is of another type than its result");
  if (loop.kind != LoopKind::kSerial || CommonDepth(path, loop_path) != 0)
    return refused(absl::StrCat(" cannot join loop ", loop.name));
  if (split.parts != 2 || split.extent != block.reduce_axes[0].extent.value() ||
      split.value[0] != loop.extent)
    return refused(absl::StrCat(": '", split.name, "' does not split its ",
                                block.reduce_axes[0].extent.value(),
                                " steps into ", loop.extent, " blocks"));
  for (const int loaded : LoadedBuffers(block)) {
    if (!HoldsWholeTensor(tree, tree.buffers[loaded]))
      return refused(" reads what is placed already; move it first");
  }
  return Update(replayer, block, loop.var, split).Run();
}

}  // namespace tilewright::sketch

#include "sketch/replay/rescaled_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/block_nest.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

bool IsPlainSum(const Block& block) {
  return block.combiner && block.combiner->kind() == Combiner::Kind::kSum &&
         block.combiner->arity() == 1 && !block.LeavesStepsOut() &&
         block.intrinsic.empty() && !block.rolling && !block.rescaling;
}

class Rescaler {
 public:
  Rescaler(BlockTree& tree, const RunningResult& of) : tree_(tree), of_(of) {}

  // Finds the sums in the loop that hang on the result, and has them follow it.
  absl::StatusOr<Rescaling> Run() {
    std::vector<std::string> names;
    for (const std::string& name : BlocksBelow(loop().body))
      names.push_back(name);
    for (const std::string& name : names) {
      Block& step = *FindBlock(tree_, name).back().node().block;
      const bool map = !step.combiner.has_value();
      if (map && tree_.buffers[step.dst[0]].level == MemLevel::kGlobal &&
          Reads(step, of_.buffer))
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
        if (e.op() == Op::kLoad && e.source() == of_.buffer) load = e;
      });
      if (!load) continue;
      TW_RETURN_IF_ERROR(RescaleSum(step, body, load));
    }
    return rescaling_;
  }

 private:
  absl::Status Refuse(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(of_.name, what));
  }

  Loop& loop() { return *FindLoop(tree_, of_.loop_var).back().node().loop; }

  // The body of a block, with the maps of the loop that read the result
  // inlined.
  Expr Inlined(const Expr& body) {
    return Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.source() == of_.buffer) return Expr();
      for (const std::string& name : of_.readers) {
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

  // Values that maps of the loop compute from a result that is not final are
  // read there only, by sums that are rescaled or by maps of which the same
  // holds.
  absl::Status CheckReaders(const Block& map,
                            const std::vector<std::string>& below) {
    if (!Reads(map, of_.buffer)) return absl::OkStatus();
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
  absl::Status RescaleSum(Block& step, const Expr& body, const Expr& load) {
    Block* total = nullptr;
    int readers = 0;
    ForEachBlock(tree_.roots, [&](Block& block) {
      if (!Reads(block, step.dst[0])) return;
      total = &block;
      ++readers;
    });
    const size_t spatial = of_.partial.axes.size() - 1;
    const bool whole = readers == 1 && IsPlainSum(*total) &&
                       total->reduce_axes.size() == 1 &&
                       ReduceBinding(*total, 0).op() == Op::kVar &&
                       ReduceBinding(*total, 0).var_id() == of_.loop_var &&
                       total->body[0].op() == Op::kLoad &&
                       step.axes.size() == total->axes.size() + 1;
    if (!whole)
      return Refuse(absl::StrCat(" cannot be followed by ", step.name,
                                 ", which is no block of steps of a sum"));
    const int blocks_axis = static_cast<int>(total->axes.size());
    bool same_steps = false;
    const auto reduces = [&](const Expr& x, const Expr& of) {
      std::map<int, Expr> bound;
      for (size_t i = 0; i < spatial; ++i)
        bound.emplace(static_cast<int>(i), of.operand(static_cast<int>(i)));
      if (!Matches(of_.partial.body[0], x, bound)) return false;
      const auto same_block = bound.find(static_cast<int>(spatial));
      same_steps = SameSteps(step, blocks_axis, bound);
      return same_block != bound.end() && same_block->second.op() == Op::kVar &&
             same_block->second.var_id() == blocks_axis;
    };
    const RescalingRule* rule = FindRescaling(
        of_.combiner, *step.combiner, body, of_.buffer, of_.steps, reduces);
    if (rule != nullptr && rule->counts && !same_steps) rule = nullptr;
    bool fixed = true;  // over the axes of the sum alone
    for (const Expr& index : load.operands()) {
      Visit(index, [&](const Expr& e) {
        fixed &= e.op() != Op::kVar || e.var_id() < blocks_axis;
      });
    }
    if (rule == nullptr || !fixed ||
        (rescaling_.rule != nullptr && rescaling_.rule != rule))
      return Refuse(absl::StrCat(" cannot be followed by ", step.name,
                                 ": there is no rescaling of a sum of ",
                                 body.ToString()));
    rescaling_.rule = rule;
    if (rescaling_.correction < 0)
      rescaling_.correction =
          AddScratch(tree_, tree_.buffers[of_.buffer].name + ".rescaling",
                     tree_.buffers[of_.buffer].dtype, of_.held);
    const std::vector<Expr> index(load.operands().begin(),
                                  load.operands().end());
    const DType dtype = tree_.buffers[of_.buffer].dtype;
    const int sums = total->dst[0];
    total->rescaling = Expr::Make(
        rule->applied,
        {Expr::Load(sums, tree_.buffers[sums].dtype, AxisVars(total->axes)),
         Expr::Load(rescaling_.correction, dtype, index)});
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
          return rule->settled(Expr::Load(of_.buffer, dtype, at), e);
        });
      }
    });
    return absl::OkStatus();
  }

  // Whether a block of a sum's steps reduces over just what a block of the
  // result's steps does, axis by axis. `bound`: what the result's axes are in
  // it.
  bool SameSteps(const Block& step, int blocks_axis,
                 std::map<int, Expr>& bound) const {
    const size_t reduced = of_.partial.reduce_axes.size();
    if (step.reduce_axes.size() != reduced) return false;
    std::set<int> taken;
    for (size_t r = 0; r < reduced; ++r) {
      const auto axis =
          bound.find(static_cast<int>(of_.partial.axes.size() + r));
      if (axis == bound.end() || axis->second.op() != Op::kVar) return false;
      const int of = axis->second.var_id() - blocks_axis - 1;
      if (of < 0 || of >= static_cast<int>(reduced) ||
          !taken.insert(of).second ||
          step.reduce_axes[of].extent != of_.partial.reduce_axes[r].extent)
        return false;
    }
    if (!step.guard || !of_.partial.guard)
      return !step.guard && !of_.partial.guard;
    return Matches(of_.partial.guard, step.guard, bound);
  }

  BlockTree& tree_;
  const RunningResult& of_;
  Rescaling rescaling_;
};

}  // namespace

absl::StatusOr<Rescaling> RescaleSums(BlockTree& tree,
                                      const RunningResult& of) {
  return Rescaler(tree, of).Run();
}

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

}  // namespace tilewright::sketch

#include "backends/lowering/threads/thread_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/lowering/threads/thread_ops.h"
#include "backends/lowering/threads/thread_owner.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "base/status_macros.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Role;
using kernel_ir::TileOp;

namespace {

// Strides and extents of the loops of a nest: which threads run it.
std::vector<std::pair<int64_t, int64_t>> ShapeOf(const ThreadNest& nest) {
  std::vector<std::pair<int64_t, int64_t>> shape;
  for (const For* loop : nest) {
    if (loop->extent > 1) shape.emplace_back(loop->place.stride, loop->extent);
  }
  std::sort(shape.begin(), shape.end());
  return shape;
}

// Buffers that some operation writes at the same index, so that they are laid
// out alike, and their uses.
struct Use {
  const ThreadOp* op;
  bool is_store;
  std::optional<Owner> owner;
};
struct BufferGroup {
  std::set<int> buffers;
  std::vector<Use> uses;
  bool local = true, registers = true;  // all of them
};

class Planner {
 public:
  explicit Planner(Kernel& kernel)
      : kernel_(kernel),
        ranges_(kernel),
        range_of_(ranges_.ranges()),
        ops_(ThreadOps(kernel.body)) {
    FindGroups();
  }

  absl::StatusOr<ThreadPlan> Run(CombinedLanes lanes) {
    plan_.lanes = std::move(lanes);
    FindOwn();
    for (const ThreadOp& op : ops_) TW_RETURN_IF_ERROR(CheckStores(op));
    for (const BufferGroup& group : groups_) {
      if (IsOwn(group)) Privatise(group);
    }
    for (Buffer& b : kernel_.buffers) {
      if (b.level != Level::kRegisters || plan_.own.count(b.id) > 0) continue;
      b.level = Level::kScratch;
      plan_.demoted.push_back(b.name);
    }
    return std::move(plan_);
  }

 private:
  void FindGroups() {
    std::vector<int> group_of(kernel_.buffers.size());
    for (size_t i = 0; i < group_of.size(); ++i)
      group_of[i] = static_cast<int>(i);
    for (const ThreadOp& op : ops_) {
      for (const int dst : op.op->dst) {
        const int from = group_of[dst], to = group_of[op.op->dst[0]];
        std::replace(group_of.begin(), group_of.end(), from, to);
      }
    }
    std::map<int, BufferGroup> groups;
    for (const Buffer& b : kernel_.buffers) {
      BufferGroup& group = groups[group_of[b.id]];
      group.buffers.insert(b.id);
      group.local &= b.role == Role::kLocal;
      group.registers &= b.level == Level::kRegisters;
    }
    for (const ThreadOp& op : ops_) {
      for (const BufferAccess& access : AccessesOf(*op.op)) {
        groups[group_of[access.buffer]].uses.push_back(
            {&op, access.is_store, OwnerOf(access.index, op.nest, range_of_)});
      }
    }
    for (auto& [first, group] : groups) groups_.push_back(std::move(group));
  }

  bool IsOwn(const BufferGroup& group) const {
    return plan_.own.count(*group.buffers.begin()) > 0;
  }
  void MakeOwn(const BufferGroup& group) {
    plan_.own.insert(group.buffers.begin(), group.buffers.end());
  }

  void FindOwn() {
    // Buffers that several threads may hold alike are taken to be held alike,
    // until it shows that something else is stored there.
    std::vector<const BufferGroup*> alike;
    alike_ = plan_.lanes.equal_in_lanes;
    for (const BufferGroup& group : groups_) {
      if (!group.local || group.uses.empty()) continue;
      const bool equal =
          plan_.lanes.equal_in_lanes.count(*group.buffers.begin()) > 0;
      if (equal ||
          (IsOfOneNest(group) && (group.registers || !MayBeShared(group)))) {
        MakeOwn(group);
      } else if (group.registers && AgreeOnThreads(group)) {
        MakeOwn(group);
        if (group.uses[0].owner->missing.empty()) continue;
        alike_.insert(group.buffers.begin(), group.buffers.end());
        alike.push_back(&group);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const BufferGroup* group : alike) {
        if (!IsOwn(*group) || StoresAlike(*group)) continue;
        for (const int id : group->buffers) {
          plan_.own.erase(id);
          alike_.erase(id);
        }
        changed = true;
      }
    }
  }

  static bool IsOfOneNest(const BufferGroup& group) {
    const int nest = group.uses[0].op->nest_number();
    return std::all_of(
        group.uses.begin(), group.uses.end(),
        [nest](const Use& use) { return use.op->nest_number() == nest; });
  }
  static bool AgreeOnOwner(const BufferGroup& group) {
    return std::all_of(group.uses.begin(), group.uses.end(),
                       [&](const Use& use) {
                         return use.owner && group.uses[0].owner &&
                                *use.owner == *group.uses[0].owner;
                       });
  }
  // One thread does it all, or the index alone tells a thread from the others.
  static bool MayBeShared(const BufferGroup& group) {
    return group.uses[0].op->nest.empty() ||
           (AgreeOnOwner(group) && group.uses[0].owner->missing.empty());
  }
  // Whether the index tells the owner of an element in all nests alike.
  static bool AgreeOnThreads(const BufferGroup& group) {
    if (!AgreeOnOwner(group)) return false;
    const auto threads = ShapeOf(group.uses[0].op->nest);
    return std::all_of(
        group.uses.begin(), group.uses.end(),
        [&](const Use& use) { return ShapeOf(use.op->nest) == threads; });
  }

  // Whether the threads that store one element store the same.
  bool StoresAlike(const BufferGroup& group) const {
    return std::all_of(
        group.uses.begin(), group.uses.end(), [&](const Use& use) {
          return !use.is_store || (AllReach(*use.op, use.owner->missing) &&
                                   IsSameWithout(*use.op, use.owner->missing));
        });
  }
  // Whether no branch keeps some threads of these loops away.
  static bool AllReach(const ThreadOp& op, const std::set<int>& loops) {
    return std::none_of(loops.begin(), loops.end(),
                        [&](int var) { return op.within.count(var) > 0; }) &&
           std::none_of(op.conditions.begin(), op.conditions.end(),
                        [&](const Expr& c) { return MentionsAny(c, loops); });
  }
  // Whether the operation computes the same in all iterations of these loops of
  // its nest. REQUIRES: indices are not yet within what a thread has.
  bool IsSameWithout(const ThreadOp& placed, const std::set<int>& loops) const {
    const TileOp& op = *placed.op;
    if (op.predicate && MentionsAny(op.predicate, loops)) return false;
    bool same = true;
    for (const Expr& body : op.body) {
      same = same && !MentionsAny(body, loops);
      Visit(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad || plan_.own.count(e.source()) == 0) return;
        same = same && alike_.count(e.source()) > 0 &&
               (plan_.lanes.equal_in_lanes.count(e.source()) == 0 ||
                AreLanesOf(e.source(), placed.nest, loops));
      });
    }
    return same;
  }
  // Whether all of `loops` run over the lanes that combined the buffer.
  bool AreLanesOf(int buffer, const ThreadNest& nest,
                  const std::set<int>& loops) const {
    for (const auto& found : plan_.lanes.exchanges) {
      const LaneExchange& exchange = found.second;
      if (exchange.buffer != buffer) continue;
      return std::all_of(nest.begin(), nest.end(), [&](const For* loop) {
        return loops.count(loop->var) == 0 ||
               (loop->place.stride == exchange.stride &&
                loop->extent == exchange.extent);
      });
    }
    return false;
  }

  // Indices become those within what a thread has, where all agree on what that
  // is.
  void Privatise(const BufferGroup& group) {
    if (!AgreeOnOwner(group) || group.uses[0].owner->digits.empty()) return;
    const Owner& owner = *group.uses[0].owner;
    const size_t rank =
        kernel_.buffers[*group.buffers.begin()].layout.shape().size();
    std::vector<int64_t> shape(rank, 1);
    std::map<TileOp*, const ThreadNest*> ops;
    for (const Use& use : group.uses) ops[use.op->op] = &use.op->nest;
    for (const auto& [op, nest] : ops) {
      const auto within = [&, nest = nest](absl::Span<const Expr> index) {
        std::vector<Expr> moved = IndexWithin(index, owner, *nest, range_of_);
        for (size_t d = 0; d < moved.size(); ++d) {
          const std::optional<Range> range = RangeOfExpr(moved[d], range_of_);
          if (range) shape[d] = std::max(shape[d], range->max + 1);
        }
        return moved;
      };
      if (group.buffers.count(op->dst[0]) > 0) op->index = within(op->index);
      for (Expr& body : op->body) {
        body = Rewrite(body, [&](const Expr& e) {
          return e.op() == Op::kLoad && group.buffers.count(e.source()) > 0
                     ? Expr::Load(e.source(), e.dtype(), within(e.operands()))
                     : Expr();
        });
      }
    }
    for (const int id : group.buffers)
      kernel_.buffers[id].layout = Layout::RowMajor(shape);
  }

  // Each element by one thread.
  absl::Status CheckStores(const ThreadOp& placed) {
    TileOp& op = *placed.op;
    if (placed.nest.empty()) return absl::OkStatus();
    std::vector<Expr> conditions = Conjuncts(op.predicate);
    if (plan_.own.count(op.dst[0]) > 0) return absl::OkStatus();
    std::optional<std::set<int>> sharing =
        LoopsThatShare(op.index, placed.nest, placed.inside, range_of_);
    const kernel_ir::Buffer& dst = kernel_.buffers[op.dst[0]];
    if (!sharing)
      sharing =
          LoopsThatShare(JoinDims(op.index, dst.layout.shape(), range_of_),
                         placed.nest, placed.inside, range_of_);
    const std::string& name = dst.name;
    if (!sharing)
      return absl::UnimplementedError(absl::StrCat(
          "which thread writes which element of ", name, " is not known"));
    // Where a branch leaves one iteration, no threads share it.
    std::set<int> several;
    for (const int var : *sharing) {
      const auto range = placed.within.find(var);
      if (range == placed.within.end() || range->second.min < range->second.max)
        several.insert(var);
    }
    if (several.empty()) return absl::OkStatus();
    const bool unclear =
        std::any_of(placed.conditions.begin(), placed.conditions.end(),
                    [&](const Expr& c) { return MentionsAny(c, several); });
    if (unclear || !IsSameWithout(placed, several))
      return absl::UnimplementedError(
          absl::StrCat("several threads write one element of ", name));
    for (const For* loop : placed.nest) {
      if (several.count(loop->var) == 0) continue;
      const auto range = placed.within.find(loop->var);
      const int64_t first =
          range == placed.within.end() ? 0 : range->second.min;
      conditions.push_back(Expr::Make(
          Op::kLt, {Expr::Var(loop->var, loop->name), Expr::Int(first + 1)}));
    }
    op.predicate = Conjunction(conditions);
    return absl::OkStatus();
  }

  Kernel& kernel_;
  const KernelRanges ranges_;
  const RangeOf range_of_;
  const std::vector<ThreadOp> ops_;
  std::vector<BufferGroup> groups_;
  std::set<int> alike_;  // of what threads own: equal where they share elements
  ThreadPlan plan_;
};

}  // namespace

absl::StatusOr<ThreadPlan> PlanThreads(Kernel& kernel) {
  CombinedLanes lanes = CombineLanes(kernel);
  return Planner(kernel).Run(std::move(lanes));
}

}  // namespace tilewright::lowering

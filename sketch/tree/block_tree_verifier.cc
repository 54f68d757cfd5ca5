#include "sketch/tree/block_tree_verifier.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/block_region.h"
#include "sketch/tree/coverage.h"
#include "sketch/tree/dataflow.h"
#include "sketch/tree/thread_loops.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

absl::Status Fault(const std::string& where, const std::string& what) {
  return absl::InternalError(absl::StrCat(where, ": ", what));
}

// Nodes, variables and kinds of loops; collects what is around each block.
class ShapeVerifier {
 public:
  explicit ShapeVerifier(const BlockTree& tree) : tree_(tree) {}

  absl::Status Verify() {
    for (const NodePtr& root : tree_.roots) CountTasks(*root);
    TW_RETURN_IF_ERROR(VerifyNodes(tree_.roots));
    return absl::OkStatus();
  }

 private:
  void CountTasks(const Node& node) {
    if (!node.loop) return;
    num_tasks_ += node.loop->kind == LoopKind::kTask;
    for (const NodePtr& child : node.loop->body) CountTasks(*child);
  }

  absl::Status VerifyNodes(const std::vector<NodePtr>& nodes) {
    if (loops_.size() < num_tasks_ && nodes.size() != 1)
      return Fault("tree", "task loops are not the outermost, perfect nest");
    for (const NodePtr& node : nodes) {
      if (node == nullptr || node->loop.has_value() == node->block.has_value())
        return Fault("tree", "a node is neither loop nor block");
      if (node->block) {
        if (loops_.size() < num_tasks_)
          return Fault(node->block->name, "stands outside the task loops");
        TW_RETURN_IF_ERROR(VerifyBlock(*node->block));
      } else {
        TW_RETURN_IF_ERROR(VerifyLoop(*node->loop));
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyLoop(const Loop& loop) {
    const std::string where = absl::StrCat("loop ", loop.name, "#", loop.var);
    if (loop.var < 0 || loop.var >= tree_.num_vars ||
        !vars_.insert(loop.var).second)
      return Fault(where, "its variable is not its own");
    if (loop.extent < 1)
      return Fault(where, absl::StrCat("extent ", loop.extent));
    if (loop.body.empty()) return Fault(where, "is empty");
    if ((loop.kind == LoopKind::kTask) != (loops_.size() < num_tasks_))
      return Fault(where, "task loops are not the outermost, perfect nest");
    if (!loops_.empty() && loops_.back()->kind == LoopKind::kTile &&
        loop.kind != LoopKind::kTile)
      return Fault(where, "stands inside a tile");
    if (loop.kind == LoopKind::kTile && loop.body.size() != 1)
      return Fault(where, "a tile holds more than one block");
    loops_.push_back(&loop);
    TW_RETURN_IF_ERROR(VerifyNodes(loop.body));
    loops_.pop_back();
    return absl::OkStatus();
  }

  absl::Status VerifyBlock(const Block& block) {
    if (!names_.insert(block.name).second)
      return Fault(block.name, "its name is not its own");
    const size_t num_axes = block.axes.size() + block.reduce_axes.size();
    if (block.bindings.size() != num_axes)
      return Fault(block.name, "has not one binding per axis");
    if (block.combiner.has_value() == block.reduce_axes.empty())
      return Fault(block.name, "reduces without combiner, or the reverse");
    size_t arity =
        block.combiner ? static_cast<size_t>(block.combiner->arity()) : 1;
    if (block.body.size() != arity || block.dst.size() != arity)
      return Fault(block.name, "has not one body and buffer per component");
    TW_RETURN_IF_ERROR(VerifyGuard(block, static_cast<int>(num_axes)));
    TW_RETURN_IF_ERROR(VerifyRescaling(block));
    if (block.dst_index.size() != block.axes.size())
      return Fault(block.name, "has not one index per dimension");
    TW_RETURN_IF_ERROR(VerifyBuffers(block, static_cast<int>(num_axes)));
    TW_RETURN_IF_ERROR(VerifyLoopVars(block));
    return VerifyAxes(block);
  }

  absl::Status VerifyGuard(const Block& block, int num_axes) {
    if (!block.LeavesStepsOut()) return absl::OkStatus();
    if (!block.combiner) return Fault(block.name, "guards but does not reduce");
    bool fits = true;
    for (const Expr& condition : {block.guard, block.nonzero}) {
      if (!condition) continue;
      fits = fits && condition.dtype() == DType::kBool;
      Visit(condition, [&](const Expr& e) {
        fits =
            fits && e.op() != Op::kLoad &&
            (e.op() != Op::kVar || (e.var_id() >= 0 && e.var_id() < num_axes));
      });
    }
    return fits ? absl::OkStatus()
                : Fault(block.name, "its guard is no condition on its axes");
  }

  // A rescaling is of sums that loops carry block by block, at their own place.
  static absl::Status VerifyRescaling(const Block& block) {
    if (!block.rescaling) return absl::OkStatus();
    if (!block.combiner || block.dst.size() != 1 || !block.intrinsic.empty())
      return Fault(block.name, "rescales what is no reduction of one value");
    bool fits = true;
    Visit(block.rescaling, [&](const Expr& e) {
      fits &=
          e.op() != Op::kVar ||
          (e.var_id() >= 0 && e.var_id() < static_cast<int>(block.axes.size()));
      if (e.op() != Op::kLoad || e.source() != block.dst[0]) return;
      for (size_t i = 0; i < e.operands().size(); ++i)
        fits &= e.operand(static_cast<int>(i)) == block.dst_index[i];
    });
    return fits ? absl::OkStatus()
                : Fault(block.name, "its rescaling is not one of each element");
  }

  absl::Status VerifyBuffers(const Block& block, int num_axes) {
    for (int id : block.dst) {
      if (!IsBuffer(id) ||
          tree_.buffers[id].layout.shape().size() != block.axes.size())
        return Fault(block.name, "writes no buffer of its rank");
      if (!written_.insert(id).second)
        return Fault(block.name, absl::StrCat("writes ", tree_.buffers[id].name,
                                              ", as another block does"));
    }
    std::string fault;
    for (const Expr& body : block.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kVar && (e.var_id() < 0 || e.var_id() >= num_axes))
          fault = absl::StrCat("axis ", e.var_id(), " does not exist");
        if (e.op() != Op::kLoad) return;
        if (!IsBuffer(e.source())) {
          fault = absl::StrCat("buffer ", e.source(), " does not exist");
        } else if (e.operands().size() !=
                   tree_.buffers[e.source()].layout.shape().size()) {
          fault = absl::StrCat("loads ", tree_.buffers[e.source()].name,
                               " with a wrong number of indices");
        } else if (e.dtype() != tree_.buffers[e.source()].dtype) {
          fault = absl::StrCat("loads ", tree_.buffers[e.source()].name,
                               " with a wrong dtype");
        }
      });
    }
    return fault.empty() ? absl::OkStatus() : Fault(block.name, fault);
  }

  bool IsBuffer(int id) const {
    return id >= 0 && id < static_cast<int>(tree_.buffers.size()) &&
           tree_.buffers[id].id == id;
  }

  absl::Status VerifyLoopVars(const Block& block) {
    std::set<int> around;
    for (const Loop* loop : loops_) around.insert(loop->var);
    std::string fault;
    auto check = [&](const Expr& expr) {
      Visit(expr, [&](const Expr& e) {
        if (e.op() == Op::kVar && around.count(e.var_id()) == 0)
          fault = absl::StrCat("uses loop variable ", e.var_id(),
                               " outside its loop");
      });
    };
    for (const Expr& e : block.bindings) check(e);
    for (const Expr& e : block.predicates) check(e);
    // The first tile loop of an intrinsic runs over the terms it sums.
    bool may_carry = !block.intrinsic.empty();
    for (const Loop* loop : loops_) {
      if (loop->kind != LoopKind::kTile) continue;
      if (CarriesReduction(*loop, block) && !may_carry)
        fault = absl::StrCat("tile loop ", loop->name, " carries a reduction");
      may_carry = false;
    }
    return fault.empty() ? absl::OkStatus() : Fault(block.name, fault);
  }

  absl::Status VerifyAxes(const Block& block) {
    RangeOf ranges = LoopRanges(tree_);
    std::vector<const Loop*> spatial, reduce;
    for (const Loop* loop : loops_)
      (CarriesReduction(*loop, block) ? reduce : spatial).push_back(loop);
    if (CoversOnce(block, block.axes.size(), block.reduce_axes.size(), reduce,
                   ranges) == Coverage::kNo) {
      return Fault(block.name,
                   "its reduce loops do not take every step exactly once");
    }
    bool leaves_group = tree_.buffers[block.dst[0]].level == MemLevel::kGlobal;
    if (leaves_group && CoversOnce(block, 0, block.axes.size(), spatial,
                                   ranges) == Coverage::kNo) {
      return Fault(block.name, "does not compute every element exactly once");
    }
    const std::vector<Expr> predicates = InitPredicates(block);
    for (size_t i = 0; i < block.axes.size(); ++i) {
      int64_t extent = block.axes[i].extent.value();
      auto is_inner = [](int) { return true; };
      RegionDim taken = IteratedRegion(block.bindings[i], extent, predicates,
                                       is_inner, ranges);
      std::optional<Range> base = RangeOfExpr(taken.base, ranges);
      bool inside = base && base->min >= 0 &&
                    base->max + (taken.extent - 1) * taken.step < extent;
      if (!inside && !IsGuarded(block, i)) {
        return Fault(block.name, absl::StrCat("axis ", block.axes[i].name,
                                              " can leave its extent"));
      }
    }
    return absl::OkStatus();
  }

  // Does a predicate speak of the loops that axis `i` is bound to? (Whether it
  // says enough is for the interpreters to see.)
  static bool IsGuarded(const Block& block, size_t i) {
    bool guarded = false;
    for (const Expr& p : block.predicates) {
      Visit(block.bindings[i], [&](const Expr& e) {
        guarded = guarded || (e.op() == Op::kVar && Mentions(p, e.var_id()));
      });
    }
    return guarded;
  }

  const BlockTree& tree_;
  size_t num_tasks_ = 0;
  std::vector<const Loop*> loops_;
  std::set<int> vars_, written_;
  std::set<std::string> names_;
};

}  // namespace

absl::Status VerifyBlockTree(const BlockTree& tree) {
  TW_RETURN_IF_ERROR(ShapeVerifier(tree).Verify());
  absl::Status flow = CheckDataflow(tree);
  if (flow.ok()) flow = CheckThreads(tree);
  if (flow.code() == absl::StatusCode::kInvalidArgument)
    return absl::InternalError(flow.message());
  return flow;
}

}  // namespace tilewright::sketch

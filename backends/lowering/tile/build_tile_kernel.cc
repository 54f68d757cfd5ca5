#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/lowering/tile/deciding_loops.h"
#include "backends/lowering/tile/lower.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/tile/tree_buffers.h"
#include "backends/lowering/tile/tree_threads.h"
#include "base/status_macros.h"
#include "sketch/tree/thread_loops.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

bool MentionsAny(const std::vector<Expr>& exprs, int var) {
  return std::any_of(exprs.begin(), exprs.end(),
                     [var](const Expr& e) { return Mentions(e, var); });
}

class Builder {
 public:
  Builder(const sketch::BlockTree& tree, std::string name) : tree_(tree) {
    kernel_.name = std::move(name);
    kernel_.num_vars = tree.num_vars;
  }

  absl::StatusOr<Kernel> Build() {
    TreeBuffers buffers = BuffersOf(tree_);
    kernel_.buffers = std::move(buffers.buffers);
    ids_ = std::move(buffers.ids);
    TreeThreads threads = ThreadsOf(tree_);
    kernel_.threads = threads.count;
    places_ = std::move(threads.places);
    TW_RETURN_IF_ERROR(Nodes(tree_.roots, kernel_.body));
    return std::move(kernel_);
  }

 private:
  // The loop as one of the kernel, without its body.
  For AsFor(const sketch::Loop& loop) const {
    For result;
    result.var = loop.var;
    result.name = loop.name;
    result.extent = loop.extent;
    if (loop.kind == sketch::LoopKind::kTask) result.kind = For::Kind::kTask;
    if (loop.kind == sketch::LoopKind::kUnroll ||
        loop.kind == sketch::LoopKind::kVthread)
      result.kind = For::Kind::kUnroll;
    if (sketch::IsOnThreads(loop)) {
      result.kind = For::Kind::kThread;
      result.place = places_.at(loop.var);
    }
    return result;
  }

  // The initialisations of reductions whose outermost reduce loop is one of
  // `nodes` come right before it.
  absl::Status Nodes(const std::vector<sketch::NodePtr>& nodes,
                     std::vector<Stmt>& out) {
    for (const sketch::NodePtr& node : nodes) {
      TW_RETURN_IF_ERROR(AddInits(*node, out));
      if (node->block.has_value()) {
        TW_RETURN_IF_ERROR(AddBlock(*node->block, out));
        continue;
      }
      const sketch::Loop& loop = *node->loop;
      loops_.push_back(&loop);
      if (loop.kind == sketch::LoopKind::kTile) {
        // Part of the box of the block below.
        TW_RETURN_IF_ERROR(Nodes(loop.body, out));
      } else {
        For result = AsFor(loop);
        result.place.combines = CombinesThreads(loop);
        result.hints = {loop.hints.unroll, loop.hints.prefetch,
                        loop.hints.stages, loop.hints.buffers};
        TW_RETURN_IF_ERROR(Nodes(loop.body, result.body));
        SkipKept(loop, result.body);
        if (result.place.combines) PutInnermost(result);
        if (loop.extent > 0) out.push_back({std::move(result)});
      }
      loops_.pop_back();
    }
    return absl::OkStatus();
  }

  // Leaves out what `body` of the loop need not compute.
  void SkipKept(const sketch::Loop& loop, std::vector<Stmt>& body) {
    const auto kept = kept_.find(loop.var);
    if (kept == kept_.end()) return;
    If branch;
    branch.condition = kept->second;
    branch.then_body = std::move(body);
    body.clear();
    body.push_back({std::move(branch)});
    kept_.erase(kept);
  }

  static std::vector<Expr> SpatialBindings(const sketch::Block& block) {
    return {block.bindings.begin(), block.bindings.begin() + block.axes.size()};
  }
  static std::vector<Expr> ReduceBindings(const sketch::Block& block) {
    return {block.bindings.begin() + block.axes.size(), block.bindings.end()};
  }

  // `node` is the outermost reduce loop of a reduction below it, or the block
  // of one that no loop carries, with the loops of its box.
  absl::Status AddInits(const sketch::Node& node, std::vector<Stmt>& out) {
    std::vector<const sketch::Loop*> inside;
    return FindReductions(node, inside, out);
  }
  absl::Status FindReductions(const sketch::Node& node,
                              std::vector<const sketch::Loop*>& inside,
                              std::vector<Stmt>& out) {
    if (node.loop.has_value()) {
      inside.push_back(&*node.loop);
      for (const sketch::NodePtr& child : node.loop->body)
        TW_RETURN_IF_ERROR(FindReductions(*child, inside, out));
      inside.pop_back();
      return absl::OkStatus();
    }
    const sketch::Block& block = *node.block;
    if (!block.combiner.has_value()) return absl::OkStatus();
    const std::vector<Expr> reduce = ReduceBindings(block);
    auto carries = [&](const sketch::Loop* loop) {
      return MentionsAny(reduce, loop->var);
    };
    // Inside the tile loops of its box there is no place, nor inside a loop
    // that carries the reduction.
    if (!loops_.empty() && loops_.back()->kind == sketch::LoopKind::kTile)
      return absl::OkStatus();
    if (std::any_of(loops_.begin(), loops_.end(), carries))
      return absl::OkStatus();
    auto is_tile = [](const sketch::Loop* loop) {
      return loop->kind == sketch::LoopKind::kTile;
    };
    const auto box = std::find_if(inside.begin(), inside.end(), is_tile);
    const auto outermost =
        std::min(std::find_if(inside.begin(), inside.end(), carries), box);
    return outermost == inside.begin() ? AddInit(block, inside, out)
                                       : absl::OkStatus();
  }

  absl::Status AddInit(const sketch::Block& block,
                       const std::vector<const sketch::Loop*>& inside,
                       std::vector<Stmt>& out) {
    // A nest of its own, with its own variables, over the spatial loops inside.
    const std::vector<Expr> spatial = SpatialBindings(block);
    std::map<int, Expr> renamed;
    std::vector<For> loops;
    TileOp op;
    op.phase = TileOp::Phase::kInit;
    for (const sketch::Loop* loop : inside) {
      if (!MentionsAny(spatial, loop->var) && !sketch::IsOnThreads(*loop))
        continue;
      const int var = kernel_.num_vars++;
      renamed[loop->var] = Expr::Var(var, loop->name);
      if (loop->kind == sketch::LoopKind::kTile) {
        op.box.push_back({var, loop->name, loop->extent});
      } else {
        For copy = AsFor(*loop);
        copy.var = var;
        loops.push_back(std::move(copy));
      }
    }
    // Thread loops outside any nest begin one of their own.
    const bool in_nest = std::any_of(
        loops_.begin(), loops_.end(),
        [](const sketch::Loop* loop) { return sketch::IsOnThreads(*loop); });
    const auto first =
        std::find_if(loops.begin(), loops.end(),
                     [](const For& l) { return l.kind == For::Kind::kThread; });
    for (For& loop : loops) {
      if (!in_nest && loop.kind == For::Kind::kThread)
        loop.place.nest = first->var;
    }
    op.combiner = block.combiner;
    TW_RETURN_IF_ERROR(SetDestination(block, renamed, op));
    // Predicates on reduce loops say nothing here; the axes' extents bound what
    // they might have.
    std::vector<Expr> conditions;
    for (const Expr& p : block.predicates) {
      const bool known = std::none_of(
          inside.begin(), inside.end(), [&](const sketch::Loop* loop) {
            return !MentionsAny(spatial, loop->var) && Mentions(p, loop->var);
          });
      if (known) conditions.push_back(Rename(p, renamed));
    }
    if (block.rolling) {
      LoopsAroundBlock around = loops_;
      around.insert(around.end(), inside.begin(), inside.end());
      const RollingGuard guard = GuardOfRolling(block, around);
      // A loop that decides it leaves this out too.
      if (!IsAround(guard.loop_var))
        conditions.push_back(Rename(guard.holds, renamed));
    }
    for (size_t i = 0; i < block.axes.size(); ++i) {
      const Expr value = Rename(block.bindings[i], renamed);
      conditions.push_back(Expr::Make(Op::kGe, {value, Expr::Int(0)}));
      conditions.push_back(Expr::Make(
          Op::kLt, {value, Expr::Int(block.axes[i].extent.value())}));
    }
    op.predicate = Conjunction(conditions);
    Wrap({std::move(op)}, std::move(loops), out);
    return absl::OkStatus();
  }

  absl::Status AddBlock(const sketch::Block& block, std::vector<Stmt>& out) {
    TileOp op;
    op.phase = block.combiner.has_value() ? TileOp::Phase::kUpdate
                                          : TileOp::Phase::kMap;
    op.intrinsic = block.intrinsic;
    op.combiner = block.combiner;
    // Elements of a box are independent, so a reduce axis among the tile loops
    // goes around it.
    const std::vector<Expr> reduce = ReduceBindings(block);
    std::vector<For> around;
    for (const sketch::Loop* loop : loops_) {
      if (loop->kind != sketch::LoopKind::kTile) continue;
      if (MentionsAny(reduce, loop->var)) {
        For serial;
        serial.var = loop->var;
        serial.name = loop->name;
        serial.extent = loop->extent;
        around.push_back(std::move(serial));
      } else {
        op.box.push_back({loop->var, loop->name, loop->extent});
      }
    }
    TW_RETURN_IF_ERROR(SetDestination(block, {}, op));
    for (size_t i = 0; i < block.body.size(); ++i) {
      Expr body = Bind(block, block.body[i], {});
      TW_ASSIGN_OR_RETURN(body, Localise(body));
      if (block.combiner.has_value() &&
          body.dtype() != block.combiner->component_dtype(i)) {
        body = Expr::Cast(block.combiner->component_dtype(i), body);
      }
      op.body.push_back(std::move(body));
    }
    if (block.rescaling) {
      Expr so_far = Bind(block, block.rescaling, {});
      TW_ASSIGN_OR_RETURN(so_far, Localise(so_far));
      op.body = block.combiner->Combine({so_far}, {op.body[0]});
      op.combiner = std::nullopt;
      op.phase = TileOp::Phase::kMap;
    }
    std::vector<Expr> conditions = block.predicates;
    if (block.rolling) {
      const RollingGuard guard = GuardOfRolling(block, loops_);
      if (guard.loop_var < 0) {
        conditions.push_back(guard.holds);
      } else {
        kept_[guard.loop_var] = WithoutOnes(guard.holds);
      }
    }
    if (block.guard) conditions.push_back(Bind(block, block.guard, {}));
    if (block.nonzero) SkipZeros(block, conditions);
    op.predicate = Conjunction(conditions);
    Wrap({std::move(op)}, std::move(around), out);
    return absl::OkStatus();
  }

  // Steps that add zeros: where a loop decides that, its body is left out; the
  // other conditions become the operation's.
  void SkipZeros(const sketch::Block& block, std::vector<Expr>& conditions) {
    const Expr nonzero = WithoutOnes(Bind(block, block.nonzero, {}));
    for (const Expr& condition : Conjuncts(nonzero)) {
      const int deciding = LoopThatSkips(condition, block, loops_);
      Expr& kept = deciding < 0 ? conditions.emplace_back() : kept_[deciding];
      kept = kept ? Expr::Make(Op::kAnd, {kept, condition}) : condition;
    }
  }

  // Whether the loop with this variable is around the current node.
  bool IsAround(int var) const {
    return std::any_of(
        loops_.begin(), loops_.end(),
        [var](const sketch::Loop* loop) { return loop->var == var; });
  }

  // Loops that take one step, those of the tile too, are where they start.
  Expr WithoutOnes(const Expr& condition) const {
    std::map<int, Expr> none;
    for (const sketch::Loop* loop : loops_) {
      if (loop->extent == 1) none[loop->var] = Expr::Int(0);
    }
    return Rename(condition, none);
  }

  static void Wrap(Stmt stmt, std::vector<For> loops, std::vector<Stmt>& out) {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      loop->body.push_back(std::move(stmt));
      stmt = Stmt{std::move(*loop)};
    }
    out.push_back(std::move(stmt));
  }

  static Expr Rename(const Expr& expr, const std::map<int, Expr>& renamed) {
    return Substitute(expr, [&](int var) {
      auto it = renamed.find(var);
      return it == renamed.end() ? Expr() : it->second;
    });
  }
  // Axes of the block become loop variables.
  static Expr Bind(const sketch::Block& block, const Expr& expr,
                   const std::map<int, Expr>& renamed) {
    return Substitute(
        expr, [&](int axis) { return Rename(block.bindings[axis], renamed); });
  }

  absl::Status SetDestination(const sketch::Block& block,
                              const std::map<int, Expr>& renamed, TileOp& op) {
    if (block.dst.empty())
      return absl::InternalError(
          absl::StrCat("block ", block.name, " has no destination"));
    const sketch::Buffer& first = tree_.buffers[block.dst[0]];
    for (int dst : block.dst) {
      op.dst.push_back(ids_.at(dst));
      if (tree_.buffers[dst].origin != first.origin) {
        return absl::InternalError(absl::StrCat(
            "block ", block.name, ": its destinations have different origins"));
      }
    }
    if (block.dst_index.size() != first.layout.shape().size()) {
      return absl::InternalError(absl::StrCat("block ", block.name, ": ",
                                              block.dst_index.size(),
                                              " indices for ", first.name));
    }
    for (size_t d = 0; d < block.dst_index.size(); ++d) {
      Expr index = Bind(block, block.dst_index[d], renamed);
      if (!first.origin.empty())
        index = index - Rename(first.origin[d], renamed);
      TW_ASSIGN_OR_RETURN(index, Localise(index));
      op.index.push_back(std::move(index));
    }
    return absl::OkStatus();
  }

  // Loads of tensors become loads of buffers, at their place in the part that
  // is held.
  absl::StatusOr<Expr> Localise(const Expr& expr) {
    absl::Status status;
    Expr result = Rewrite(expr, [&](const Expr& e) -> Expr {
      if (e.op() != Op::kLoad || !status.ok()) return Expr();
      auto it = ids_.find(e.source());
      if (it == ids_.end()) {
        status = absl::InternalError(absl::StrCat("load of buffer ", e.source(),
                                                  ", which does not exist"));
        return Expr();
      }
      const sketch::Buffer& b = tree_.buffers[e.source()];
      std::vector<Expr> indices(e.operands().begin(), e.operands().end());
      for (size_t d = 0; d < indices.size() && !b.origin.empty(); ++d)
        indices[d] = indices[d] - b.origin[d];
      return Expr::Load(it->second, e.dtype(), std::move(indices));
    });
    TW_RETURN_IF_ERROR(status);
    return result;
  }

  const sketch::BlockTree& tree_;
  Kernel kernel_;
  std::map<int, int> ids_;  // buffer of the tree -> of the kernel
  std::vector<const sketch::Loop*> loops_;  // around the current node
  std::map<int, For::Place> places_;        // of loops that threads share
  // By the loop that decides it: where its body computes anything.
  std::map<int, Expr> kept_;
};

}  // namespace

absl::StatusOr<Kernel> BuildTileKernel(const sketch::BlockTree& tree,
                                       std::string name) {
  return Builder(tree, std::move(name)).Build();
}

}  // namespace tilewright::lowering

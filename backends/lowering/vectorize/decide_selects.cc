#include "backends/lowering/vectorize/decide_selects.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/lowering/tile/decided_at.h"
#include "backends/lowering/tile/lower.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/block_plan.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// What an operation must save of its cost.
constexpr double kLeastSaving = 0.3;
// Pieces of one operation.
constexpr int kMostPieces = 16;

// The conditions of selects, each once.
std::vector<Expr> ConditionsOf(const TileOp& op) {
  std::vector<Expr> conditions;
  for (const Expr& body : op.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kSelect) return;
      for (const Expr& c : Conjuncts(e.operand(0))) {
        if (std::find(conditions.begin(), conditions.end(), c) ==
            conditions.end())
          conditions.push_back(c);
      }
    });
  }
  return conditions;
}

class Decider {
 public:
  Decider(const Kernel& kernel, const VectorTarget& target)
      : num_vars_(kernel.num_vars), planner_(kernel, target) {}

  // Of the kernel that Process made; whether that is another.
  int num_vars() const { return num_vars_; }
  bool changed() const { return changed_; }

  std::vector<Stmt> Process(std::vector<Stmt> stmts) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        scope_.Set(loop->var, {0, loop->extent - 1});
        around_.push_back(Expr::Var(loop->var, loop->name));
        loop->body = Process(std::move(loop->body));
        around_.pop_back();
        scope_.Forget(loop->var);
      } else if (auto* branch = std::get_if<If>(&stmt.node)) {
        branch->then_body = Process(std::move(branch->then_body));
        branch->else_body = Process(std::move(branch->else_body));
      } else if (Pays(std::get<TileOp>(stmt.node))) {
        pieces_ = 1;
        changed_ = true;
        Split(std::move(std::get<TileOp>(stmt.node)), out);
        continue;
      }
      out.push_back(std::move(stmt));
    }
    return out;
  }

 private:
  bool Pays(const TileOp& op) {
    const std::vector<Expr> conditions = ConditionsOf(op);
    const bool decides =
        std::any_of(conditions.begin(), conditions.end(), [&](const Expr& c) {
          return std::any_of(
              op.box.begin(), op.box.end(),
              [&](const TileAxis& axis) { return Mentions(c, axis.var); });
        });
    return decides && planner_.MapsMemory(op) &&
           planner_.BestOfDecided(op).cost <
               (1 - kLeastSaving) * planner_.Best(op).cost;
  }

  // Appends pieces of the operation in which its selects are decided, as far as
  // that is possible.
  void Split(TileOp op, std::vector<Stmt>& out) {
    for (const TileAxis& axis : op.box)
      scope_.Set(axis.var, {0, axis.extent - 1});
    const std::vector<Expr> conditions = ConditionsOf(op);
    const bool done =
        pieces_ < kMostPieces &&
        std::any_of(conditions.begin(), conditions.end(), [&](const Expr& c) {
          return SplitBox(op, c, out) || SplitLoop(op, c, out);
        });
    for (const TileAxis& axis : op.box) scope_.Forget(axis.var);
    if (!done) out.push_back({std::move(op)});
  }

  // Whether an axis of the box alone decides the condition, so that it is cut.
  bool SplitBox(const TileOp& op, const Expr& condition,
                std::vector<Stmt>& out) {
    for (size_t i = 0; i < op.box.size(); ++i) {
      const TileAxis& axis = op.box[i];
      const std::optional<Decided> at =
          DecidedAt(axis.var, condition, scope_, {});
      if (!at || at->holds != at->fails || at->holds <= 0 ||
          at->holds >= axis.extent)
        continue;
      ++pieces_;
      int64_t begin = 0;
      for (const int64_t end : {at->holds, axis.extent}) {
        std::vector<Stmt> piece = CloneStmts({Stmt{op}}, {}, num_vars_);
        TileOp& part = std::get<TileOp>(piece[0].node);
        part.box[i].extent = end - begin;
        if (begin > 0) ShiftVar(part, part.box[i], begin);
        if (SimplifyOp(part, scope_)) Split(std::move(part), out);
        begin = end;
      }
      return true;
    }
    return false;
  }

  // Whether a loop around the box decides it, all but one of its iterations.
  bool SplitLoop(const TileOp& op, const Expr& condition,
                 std::vector<Stmt>& out) {
    if (std::none_of(op.box.begin(), op.box.end(), [&](const TileAxis& axis) {
          return Mentions(condition, axis.var);
        }))
      return false;
    for (const Expr& var : around_) {
      const std::optional<Range> range = scope_.Of(var.var_id());
      if (!Mentions(condition, var.var_id()) || range->min == range->max)
        continue;
      std::set<int> others;
      for (const TileAxis& axis : op.box) others.insert(axis.var);
      for (const Expr& other : around_) {
        if (other.var_id() != var.var_id()) others.insert(other.var_id());
      }
      const std::optional<Decided> at =
          DecidedAt(var.var_id(), condition, scope_, others);
      if (!at) continue;
      const auto [first, last] = std::minmax(at->holds, at->fails);
      if (last - first > 1 || last <= range->min || first > range->max)
        continue;
      ++pieces_;
      std::vector<Stmt> pieces = Iterations(
          op, var,
          {{range->min, first - 1}, {first, last - 1}, {last, range->max}});
      std::move(pieces.begin(), pieces.end(), std::back_inserter(out));
      return true;
    }
    return false;
  }

  // The operation in the iterations of a loop that `ranges` are, ascending.
  std::vector<Stmt> Iterations(const TileOp& op, const Expr& var,
                               const std::vector<Range>& ranges) {
    const Range whole = *scope_.Of(var.var_id());
    std::vector<Stmt> out;
    // Each stands in the else branch of the one before.
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
      if (range->min > range->max) continue;
      std::map<int, Expr> values;
      if (range->min == range->max)
        values[var.var_id()] = Expr::Int(range->min);
      std::vector<Stmt> copy = CloneStmts({Stmt{op}}, values, num_vars_);
      TileOp& part = std::get<TileOp>(copy[0].node);
      std::vector<Stmt> piece;
      scope_.Set(var.var_id(), *range);
      if (SimplifyOp(part, scope_)) Split(std::move(part), piece);
      scope_.Set(var.var_id(), whole);
      if (range->max == whole.max) {
        out = std::move(piece);
        continue;
      }
      If branch;
      branch.condition = Expr::Make(Op::kLt, {var, Expr::Int(range->max + 1)});
      branch.then_body = std::move(piece);
      branch.else_body = std::move(out);
      out.clear();
      out.push_back({std::move(branch)});
    }
    return out;
  }

  int num_vars_;
  BlockPlanner planner_;
  Scope scope_;
  std::vector<Expr> around_;  // variables of loops, outermost first
  int pieces_ = 0;            // of the operation at hand
  bool changed_ = false;
};

}  // namespace

void DecideSelects(Kernel& kernel, const VectorTarget& target) {
  if (kernel.threads > 0) return;  // whose boxes belong to threads
  Decider decider(kernel, target);
  kernel.body = decider.Process(std::move(kernel.body));
  kernel.num_vars = decider.num_vars();
  // Of branches around, and of those made for another condition.
  if (decider.changed()) SimplifyTileKernel(kernel);
}

}  // namespace tilewright::lowering

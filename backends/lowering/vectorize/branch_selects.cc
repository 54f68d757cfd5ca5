#include "backends/lowering/vectorize/branch_selects.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

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

// What a branch must save of the cost of what stands in it.
constexpr double kLeastSaving = 0.15;
// Pieces that one body of a loop may become.
constexpr int kMostPieces = 32;

// Puts in that `condition` holds or does not.
void Decide(const Expr& condition, bool holds, std::vector<Stmt>& stmts) {
  for (Stmt& stmt : stmts) {
    if (auto* loop = std::get_if<For>(&stmt.node)) {
      Decide(condition, holds, loop->body);
    } else if (auto* branch = std::get_if<If>(&stmt.node)) {
      Decide(condition, holds, branch->then_body);
      Decide(condition, holds, branch->else_body);
    } else {
      for (Expr& body : std::get<TileOp>(stmt.node).body) {
        body = Rewrite(body, [&](const Expr& e) {
          return e.op() == Op::kSelect && e.operand(0) == condition
                     ? e.operand(holds ? 1 : 2)
                     : Expr();
        });
      }
    }
  }
}

class Brancher {
 public:
  Brancher(const Kernel& kernel, const VectorTarget& target)
      : num_vars_(kernel.num_vars), planner_(kernel, target) {}

  // Of the kernel that Process made; whether that is another.
  int num_vars() const { return num_vars_; }
  bool changed() const { return changed_; }

  // `pieces`: that the statements are one of. `cost`: theirs, if known.
  std::vector<Stmt> Process(std::vector<Stmt> stmts, int pieces,
                            std::optional<double> cost = std::nullopt) {
    if (std::optional<If> branch = Branch(stmts, pieces, cost)) {
      changed_ = true;
      std::vector<Stmt> out;
      out.push_back({*std::move(branch)});
      return out;
    }
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        loop->body = Process(std::move(loop->body), pieces);
      } else if (auto* inner = std::get_if<If>(&stmt.node)) {
        inner->then_body = Process(std::move(inner->then_body), pieces);
        inner->else_body = Process(std::move(inner->else_body), pieces);
      }
    }
    return stmts;
  }

 private:
  std::optional<If> Branch(const std::vector<Stmt>& stmts, int pieces,
                           std::optional<double> cost) {
    if (2 * pieces > kMostPieces) return std::nullopt;
    for (const Expr& condition : Conditions(stmts)) {
      if (!cost) cost = CostOf(stmts);
      If branch;
      branch.condition = condition;
      branch.then_body = branch.else_body = stmts;
      Decide(condition, true, branch.then_body);
      Decide(condition, false, branch.else_body);
      const double then_cost = CostOf(branch.then_body),
                   else_cost = CostOf(branch.else_body);
      if (std::max(then_cost, else_cost) > (1 - kLeastSaving) * *cost) continue;
      branch.then_body =
          Process(std::move(branch.then_body), 2 * pieces, then_cost);
      // Which has variables of its own in the end.
      branch.else_body = CloneStmts(
          Process(std::move(branch.else_body), 2 * pieces, else_cost), {},
          num_vars_);
      return branch;
    }
    return std::nullopt;
  }

  // Of outermost selects, those that nothing inside of the statements decides;
  // none if something else than maps of memory stands there.
  std::vector<Expr> Conditions(const std::vector<Stmt>& stmts) const {
    std::vector<Expr> found;
    std::set<int> inside;
    bool maps = true;
    AddLoops(stmts, inside);
    ForEachOp(stmts, [&](const TileOp& op) {
      maps = maps && planner_.MapsMemory(op);
      for (const TileAxis& axis : op.box) inside.insert(axis.var);
      for (const Expr& body : op.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() == Op::kSelect) found.push_back(e.operand(0));
        });
      }
    });
    if (!maps) return {};
    // Operands come before their users: the outermost is the last.
    std::reverse(found.begin(), found.end());
    std::vector<Expr> conditions;
    for (const Expr& e : found) {
      if (!HoldsLoad(e) && !MentionsAny(e, inside) &&
          std::find(conditions.begin(), conditions.end(), e) ==
              conditions.end())
        conditions.push_back(e);
    }
    return conditions;
  }

  double CostOf(const std::vector<Stmt>& stmts) {
    double cost = 0;
    ForEachOp(stmts, [&](const TileOp& op) { cost += planner_.Best(op).cost; });
    return cost;
  }

  int num_vars_;
  BlockPlanner planner_;
  bool changed_ = false;
};

}  // namespace

void BranchOnSelects(Kernel& kernel, const VectorTarget& target) {
  if (kernel.threads > 0) return;  // whose boxes belong to threads
  Brancher brancher(kernel, target);
  kernel.body = brancher.Process(std::move(kernel.body), 1);
  kernel.num_vars = brancher.num_vars();
  if (brancher.changed()) SimplifyTileKernel(kernel);
}

}  // namespace tilewright::lowering

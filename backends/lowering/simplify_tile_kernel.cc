#include <map>
#include <utility>
#include <vector>

#include "backends/lowering/lower.h"
#include "backends/lowering/tile_rewrite.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

namespace {

std::vector<Stmt> SimplifyStmts(std::vector<Stmt> stmts, Scope& scope);

// What is left of `branch`, in place of it.
void SimplifyIf(If branch, Scope& scope, std::vector<Stmt>& out) {
  branch.condition = Simplify(branch.condition, scope.ranges());
  if (branch.condition.op() == Op::kConst) {
    for (Stmt& s : SimplifyStmts(std::move(branch.condition.int_value() != 0 ? branch.then_body : branch.else_body), scope)) {
      out.push_back(std::move(s));
    }
    return;
  }
  // "var < constant" tells both sides something.
  const Expr c = branch.condition;
  const bool simple = c.op() == Op::kLt && c.operand(0).op() == Op::kVar && c.operand(1).op() == Op::kConst;
  const std::optional<Range> whole = simple ? scope.Of(c.operand(0).var_id()) : std::nullopt;
  if (whole.has_value()) scope.Set(c.operand(0).var_id(), {whole->min, c.operand(1).int_value() - 1});
  branch.then_body = SimplifyStmts(std::move(branch.then_body), scope);
  if (whole.has_value()) scope.Set(c.operand(0).var_id(), {c.operand(1).int_value(), whole->max});
  branch.else_body = SimplifyStmts(std::move(branch.else_body), scope);
  if (whole.has_value()) scope.Set(c.operand(0).var_id(), *whole);
  if (!branch.then_body.empty() || !branch.else_body.empty()) out.push_back({std::move(branch)});
}

std::vector<Stmt> SimplifyStmts(std::vector<Stmt> stmts, Scope& scope) {
  std::vector<Stmt> out;
  for (Stmt& stmt : stmts) {
    if (For* loop = std::get_if<For>(&stmt.node)) {
      if (loop->extent < 1) continue;
      if (loop->extent == 1) {
        SubstituteStmts(loop->body, {{loop->var, Expr::Int(0)}});
        for (Stmt& s : SimplifyStmts(std::move(loop->body), scope)) out.push_back(std::move(s));
        continue;
      }
      scope.Set(loop->var, {0, loop->extent - 1});
      loop->body = SimplifyStmts(std::move(loop->body), scope);
      scope.Forget(loop->var);
      if (!loop->body.empty()) out.push_back(std::move(stmt));
    } else if (If* branch = std::get_if<If>(&stmt.node)) {
      SimplifyIf(std::move(*branch), scope, out);
    } else if (SimplifyOp(std::get<TileOp>(stmt.node), scope)) {
      out.push_back(std::move(stmt));
    }
  }
  return out;
}

}  // namespace

void SimplifyTileKernel(Kernel& kernel) {
  Scope scope;
  kernel.body = SimplifyStmts(std::move(kernel.body), scope);
}

}  // namespace tilewright::lowering

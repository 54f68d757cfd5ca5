#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "backends/lowering/tile/lower.h"
#include "backends/lowering/tile/tile_rewrite.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

namespace {

std::vector<Stmt> SimplifyStmts(std::vector<Stmt> stmts, Scope& scope);

// Appends what is left of `branch` to `out`, in place of it.
void SimplifyIf(If branch, Scope& scope, std::vector<Stmt>& out) {
  branch.condition = Simplify(branch.condition, scope.ranges());
  if (branch.condition.op() == Op::kConst) {
    for (Stmt& s : SimplifyStmts(
             std::move(branch.condition.int_value() != 0 ? branch.then_body
                                                         : branch.else_body),
             scope)) {
      out.push_back(std::move(s));
    }
    return;
  }
  // Bounds on single variables tell the branches something: all of them the
  // first, a lone one the second the contrary.
  std::map<int, Range> whole, holds, fails;
  for (const Expr& c : Conjuncts(branch.condition)) {
    const std::optional<VarBound> bound = AsVarBound(c);
    const std::optional<Range> range =
        bound.has_value() ? scope.Of(bound->var) : std::nullopt;
    if (!range.has_value()) continue;
    whole.emplace(bound->var, *range);
    Range& h = holds.emplace(bound->var, *range).first->second;
    (bound->below ? h.max : h.min) = bound->below
                                         ? std::min(h.max, bound->bound - 1)
                                         : std::max(h.min, bound->bound);
    if (c == branch.condition)
      fails[bound->var] = bound->below ? Range{bound->bound, range->max}
                                       : Range{range->min, bound->bound - 1};
  }
  for (const auto& [var, range] : holds) scope.Set(var, range);
  branch.then_body = SimplifyStmts(std::move(branch.then_body), scope);
  for (const auto& [var, range] : whole) scope.Set(var, range);
  for (const auto& [var, range] : fails) scope.Set(var, range);
  branch.else_body = SimplifyStmts(std::move(branch.else_body), scope);
  for (const auto& [var, range] : whole) scope.Set(var, range);
  if (!branch.then_body.empty() || !branch.else_body.empty())
    out.push_back({std::move(branch)});
}

std::vector<Stmt> SimplifyStmts(std::vector<Stmt> stmts, Scope& scope) {
  std::vector<Stmt> out;
  for (Stmt& stmt : stmts) {
    if (For* loop = std::get_if<For>(&stmt.node)) {
      if (loop->extent < 1) continue;
      if (loop->extent == 1) {
        SubstituteStmts(loop->body, {{loop->var, Expr::Int(0)}});
        if (loop->kind == For::Kind::kThread) {  // says which thread does it
          loop->body = SimplifyStmts(std::move(loop->body), scope);
          if (!loop->body.empty()) out.push_back(std::move(stmt));
          continue;
        }
        for (Stmt& s : SimplifyStmts(std::move(loop->body), scope))
          out.push_back(std::move(s));
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

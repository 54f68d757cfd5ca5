#include "backends/lowering/tile/tail_cuts.h"

#include <algorithm>
#include <variant>

#include "backends/lowering/tile/decided_at.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// Iterations in a row that are cut one by one.
constexpr int64_t kMostUndecided = 8;

}  // namespace

std::vector<int64_t> TailCuts::Of(int var, Range range,
                                  const std::vector<Stmt>& body,
                                  absl::Span<const int> inner) {
  inner_.insert(inner.begin(), inner.end());
  std::set<int64_t> cuts;
  ForEachOpInScope(body, [&](const TileOp& op) {
    for (const Expr& condition : Conjuncts(op.predicate)) {
      const std::optional<Decided> at =
          DecidedAt(var, condition, scope_, inner_);
      if (!at.has_value()) continue;
      for (int64_t t : {at->holds, at->fails}) {
        if (t > range.min && t <= range.max) cuts.insert(t);
      }
    }
  });
  for (const int other : inner) inner_.erase(other);
  return {cuts.begin(), cuts.end()};
}

std::vector<int64_t> TailCuts::OfLoop(const For& loop) {
  const Range range = {0, loop.extent - 1};
  std::set<int64_t> cuts;
  ForEachOpInScope(loop.body, [&](TileOp op) {
    // A box that other conditions bound, as that of a last tile, decides
    // earlier.
    if (!SimplifyOp(op, scope_)) return;
    for (const TileAxis& axis : op.box)
      scope_.Set(axis.var, {0, axis.extent - 1});
    for (const Expr& condition : Conjuncts(op.predicate)) {
      const bool boxes = std::any_of(
          op.box.begin(), op.box.end(),
          [&](const TileAxis& axis) { return Mentions(condition, axis.var); });
      if (boxes && loop.kind == For::Kind::kUnroll) continue;
      const std::optional<Decided> at =
          DecidedAt(loop.var, condition, scope_, inner_);
      if (!at.has_value()) continue;
      const auto [least, most] = std::minmax(at->holds, at->fails);
      if (!boxes || most - least > kMostUndecided) {
        cuts.insert({least, most});
      } else {
        for (int64_t t = least; t <= most; ++t) cuts.insert(t);
      }
    }
  });
  return {cuts.upper_bound(range.min), cuts.upper_bound(range.max)};
}

void TailCuts::ForEachOpInScope(const std::vector<Stmt>& stmts,
                                const std::function<void(const TileOp&)>& fn) {
  for (const Stmt& stmt : stmts) {
    if (const For* loop = std::get_if<For>(&stmt.node)) {
      Enter(loop->var, loop->extent);
      ForEachOpInScope(loop->body, fn);
      Leave(loop->var);
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      ForEachOpInScope(branch->then_body, fn);
      ForEachOpInScope(branch->else_body, fn);
    } else {
      const TileOp& op = std::get<TileOp>(stmt.node);
      for (const TileAxis& axis : op.box) Enter(axis.var, axis.extent);
      fn(op);
      for (const TileAxis& axis : op.box) Leave(axis.var);
    }
  }
}

void TailCuts::Enter(int var, int64_t extent) {
  inner_.insert(var);
  scope_.Set(var, {0, extent - 1});
}

void TailCuts::Leave(int var) {
  inner_.erase(var);
  scope_.Forget(var);
}

std::optional<Range> TailCuts::Interior(int var, Range range,
                                        const std::vector<Stmt>& body) {
  Range inside = range;
  ForEachOpInScope(body, [&](const TileOp& op) {
    if (std::none_of(op.index.begin(), op.index.end(),
                     [var](const Expr& e) { return Mentions(e, var); }))
      return;
    for (const Expr& e : op.body) {
      Visit(e, [&](const Expr& node) {
        if (node.op() != Op::kSelect) return;
        for (const Expr& condition : Conjuncts(node.operand(0))) {
          const std::optional<Decided> at =
              DecidedAt(var, condition, scope_, inner_);
          if (!at.has_value()) continue;
          if (at->rising && at->holds <= range.max)
            inside.min = std::max(inside.min, at->holds);
          if (!at->rising && at->holds > range.min)
            inside.max = std::min(inside.max, at->holds - 1);
        }
      });
    }
  });
  if (inside.min > inside.max ||
      (inside.min == range.min && inside.max == range.max))
    return std::nullopt;
  return inside;
}

}  // namespace tilewright::lowering

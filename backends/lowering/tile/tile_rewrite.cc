#include "backends/lowering/tile/tile_rewrite.h"

#include <algorithm>
#include <utility>

#include "tilegraph/expr/non_negative.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

Expr Replace(const Expr& expr, const std::map<int, Expr>& values) {
  if (!expr) return expr;
  return Substitute(expr, [&](int var) {
    auto it = values.find(var);
    return it == values.end() ? Expr() : it->second;
  });
}

void ReplaceInOp(TileOp& op, const std::map<int, Expr>& values) {
  for (Expr& e : op.index) e = Replace(e, values);
  for (Expr& e : op.body) e = Replace(e, values);
  op.predicate = Replace(op.predicate, values);
}

// Bounds of a box axis that one condition sets by itself: condition == (var in
// [lo, hi]).
std::optional<Range> BoundsOn(const TileAxis& axis, const Expr& condition,
                              const RangeOf& ranges) {
  const std::optional<LinearForm> form = AsNonNegative(condition, ranges);
  if (!form.has_value() || form->terms.size() != 1 ||
      form->CoefficientOf(axis.var) == 0)
    return std::nullopt;
  const int64_t c = form->CoefficientOf(axis.var), k = form->constant;
  Range range{0, axis.extent - 1};
  if (c > 0) {
    range.min = std::max<int64_t>(
        range.min, -k <= 0 ? 0 : (-k + c - 1) / c);  // var >= -k / c
  } else {
    if (k < 0) return Range{0, -1};
    range.max = std::min<int64_t>(range.max, k / -c);  // var <= k / -c
  }
  return range;
}

}  // namespace

std::optional<Range> Scope::Of(int var) const {
  auto it = ranges_.find(var);
  if (it == ranges_.end()) return std::nullopt;
  return it->second;
}

std::vector<Expr> Conjuncts(const Expr& predicate) {
  if (!predicate) return {};
  if (predicate.op() != Op::kAnd) return {predicate};
  std::vector<Expr> all = Conjuncts(predicate.operand(0));
  for (const Expr& e : Conjuncts(predicate.operand(1))) all.push_back(e);
  return all;
}

Expr Conjunction(const std::vector<Expr>& conditions) {
  Expr all;
  for (const Expr& e : conditions)
    all = all ? Expr::Make(Op::kAnd, {all, e}) : e;
  return all;
}

std::optional<VarBound> AsVarBound(const Expr& condition) {
  if (condition.op() != Op::kLt && condition.op() != Op::kGe &&
      condition.op() != Op::kLe && condition.op() != Op::kGt)
    return std::nullopt;
  const Expr& a = condition.operand(0);
  const Expr& b = condition.operand(1);
  if (a.op() != Op::kVar || b.op() != Op::kConst) return std::nullopt;
  const bool below = condition.op() == Op::kLt || condition.op() == Op::kLe;
  const bool next = condition.op() == Op::kLe || condition.op() == Op::kGt;
  return VarBound{a.var_id(), below, b.int_value() + (next ? 1 : 0)};
}

void ShiftVar(TileOp& op, const TileAxis& axis, int64_t by) {
  ReplaceInOp(op, {{axis.var, Expr::Var(axis.var, axis.name) + Expr::Int(by)}});
}

bool SimplifyOp(TileOp& op, Scope& scope) {
  bool alive = true;
  for (bool changed = true; changed && alive;) {
    changed = false;
    std::map<int, Expr> values;
    std::vector<TileAxis> box;
    for (const TileAxis& axis : op.box) {
      if (axis.extent == 1) {
        values[axis.var] = Expr::Int(0);
      } else {
        box.push_back(axis);
        scope.Set(axis.var, {0, axis.extent - 1});
      }
    }
    op.box = std::move(box);
    if (!values.empty()) ReplaceInOp(op, values);

    std::vector<Expr> conditions;
    for (const Expr& conjunct : Conjuncts(op.predicate)) {
      for (const Expr& e : Conjuncts(Simplify(conjunct, scope.ranges()))) {
        if (e.op() == Op::kConst) {
          alive &= e.int_value() != 0;
          continue;
        }
        bool absorbed = std::find(conditions.begin(), conditions.end(), e) !=
                        conditions.end();
        for (TileAxis& axis : op.box) {
          if (absorbed) break;
          const std::optional<Range> bounds = BoundsOn(axis, e, scope.ranges());
          if (!bounds.has_value()) continue;
          absorbed = true;
          if (bounds->min > bounds->max) {
            alive = false;
          } else if (bounds->min > 0 || bounds->max < axis.extent - 1) {
            // The rest of the conditions see the smaller box in the next round.
            changed = true;
            axis.extent = bounds->max - bounds->min + 1;
            scope.Set(axis.var, {0, axis.extent - 1});
            if (bounds->min > 0) {
              // The whole predicate moves with the operation, what it absorbed
              // included: start over.
              ShiftVar(op, axis, bounds->min);
              return SimplifyOp(op, scope);
            }
          }
        }
        if (!absorbed) conditions.push_back(e);
      }
    }
    op.predicate = Conjunction(conditions);
  }
  if (alive) {
    for (Expr& e : op.index) e = Simplify(e, scope.ranges());
    for (Expr& e : op.body) e = Simplify(e, scope.ranges());
  }
  for (const TileAxis& axis : op.box) scope.Forget(axis.var);
  return alive;
}

void SubstituteStmts(std::vector<Stmt>& stmts,
                     const std::map<int, Expr>& values) {
  for (Stmt& stmt : stmts) {
    if (For* loop = std::get_if<For>(&stmt.node)) {
      SubstituteStmts(loop->body, values);
    } else if (If* branch = std::get_if<If>(&stmt.node)) {
      branch->condition = Replace(branch->condition, values);
      SubstituteStmts(branch->then_body, values);
      SubstituteStmts(branch->else_body, values);
    } else {
      ReplaceInOp(std::get<TileOp>(stmt.node), values);
    }
  }
}

std::vector<Stmt> CloneStmts(const std::vector<Stmt>& stmts,
                             std::map<int, Expr> values, int& num_vars) {
  std::vector<Stmt> copies;
  for (const Stmt& stmt : stmts) {
    if (const For* loop = std::get_if<For>(&stmt.node)) {
      For copy;
      copy.var = num_vars++;
      copy.name = loop->name;
      copy.extent = loop->extent;
      copy.kind = loop->kind;
      copy.hints = loop->hints;
      copy.place = loop->place;
      copy.turns = loop->turns;
      std::map<int, Expr> inner = values;
      inner[loop->var] = Expr::Var(copy.var, copy.name);
      copy.body = CloneStmts(loop->body, std::move(inner), num_vars);
      copies.push_back({std::move(copy)});
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      copies.push_back({If{Replace(branch->condition, values),
                           CloneStmts(branch->then_body, values, num_vars),
                           CloneStmts(branch->else_body, values, num_vars)}});
    } else {
      TileOp copy = std::get<TileOp>(stmt.node);
      std::map<int, Expr> inner = values;
      for (TileAxis& axis : copy.box) {
        const int var = num_vars++;
        inner[axis.var] = Expr::Var(var, axis.name);
        axis.var = var;
      }
      ReplaceInOp(copy, inner);
      copies.push_back({std::move(copy)});
    }
  }
  return copies;
}

void AddLoops(const std::vector<Stmt>& stmts, std::set<int>& vars) {
  for (const Stmt& stmt : stmts) {
    if (const For* loop = std::get_if<For>(&stmt.node)) {
      vars.insert(loop->var);
      AddLoops(loop->body, vars);
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      AddLoops(branch->then_body, vars);
      AddLoops(branch->else_body, vars);
    }
  }
}

int CountStmts(const std::vector<Stmt>& stmts) {
  int count = 0;
  for (const Stmt& stmt : stmts) {
    ++count;
    if (const For* loop = std::get_if<For>(&stmt.node)) {
      count += CountStmts(loop->body);
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      count += CountStmts(branch->then_body) + CountStmts(branch->else_body);
    }
  }
  return count;
}

void ForEachOp(const Stmt& stmt, const std::function<void(const TileOp&)>& fn) {
  if (const For* loop = std::get_if<For>(&stmt.node)) {
    ForEachOp(loop->body, fn);
  } else if (const If* branch = std::get_if<If>(&stmt.node)) {
    ForEachOp(branch->then_body, fn);
    ForEachOp(branch->else_body, fn);
  } else {
    fn(std::get<TileOp>(stmt.node));
  }
}

void ForEachOp(const std::vector<Stmt>& stmts,
               const std::function<void(const TileOp&)>& fn) {
  for (const Stmt& stmt : stmts) ForEachOp(stmt, fn);
}

}  // namespace tilewright::lowering

// Small tools that the passes on the tile tier share. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_TILE_REWRITE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_TILE_REWRITE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

// The ranges of the variables in scope.
class Scope {
 public:
  void Set(int var, Range range) { ranges_[var] = range; }
  void Forget(int var) { ranges_.erase(var); }
  std::optional<Range> Of(int var) const;
  RangeOf ranges() const {
    return [this](int var) { return Of(var); };
  }

 private:
  std::map<int, Range> ranges_;
};

// Conditions that must all hold. Empty: true.
std::vector<Expr> Conjuncts(const Expr& predicate);
// Empty for no conditions.
Expr Conjunction(const std::vector<Expr>& conditions);

// "var < bound" (below) or "var >= bound".
struct VarBound {
  int var;
  bool below;
  int64_t bound;
};
std::optional<VarBound> AsVarBound(const Expr& condition);

// Simplifies index, bodies and predicate of an operation whose loop variables
// `scope` knows; box axes of extent 1 go away, and those that the predicate
// alone bounds shrink. False: it never does anything.
bool SimplifyOp(kernel_ir::TileOp& op, Scope& scope);

// The axis' variable counts from `by` on wherever the operation uses it.
void ShiftVar(kernel_ir::TileOp& op, const kernel_ir::TileAxis& axis,
              int64_t by);
// Statements with variables replaced.
void SubstituteStmts(std::vector<kernel_ir::Stmt>& stmts,
                     const std::map<int, Expr>& values);
// A copy in which every variable defined inside has a new number, from
// `num_vars` on.
std::vector<kernel_ir::Stmt> CloneStmts(
    const std::vector<kernel_ir::Stmt>& stmts, std::map<int, Expr> values,
    int& num_vars);
// Adds the variables of the loops in the statements.
void AddLoops(const std::vector<kernel_ir::Stmt>& stmts, std::set<int>& vars);
// Number of statements, nested ones included.
int CountStmts(const std::vector<kernel_ir::Stmt>& stmts);
// Every operation, in order.
void ForEachOp(const kernel_ir::Stmt& stmt,
               const std::function<void(const kernel_ir::TileOp&)>& fn);
void ForEachOp(const std::vector<kernel_ir::Stmt>& stmts,
               const std::function<void(const kernel_ir::TileOp&)>& fn);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_TILE_REWRITE_H_

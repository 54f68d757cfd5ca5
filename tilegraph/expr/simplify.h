// Simplifies i64 index expressions under known ranges of their variables.
// Everything that tiles, packs or vectorises leans on this: (16·c + i) floordiv
// 16 is c when 0 <= i < 16.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_SIMPLIFY_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_SIMPLIFY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tilegraph/expr/expr.h"

namespace tilewright {

// Closed interval.
struct Range {
  int64_t min;
  int64_t max;
};
// The range of a variable; nullopt if unknown.
using RangeOf = std::function<std::optional<Range>(int var_id)>;

// constant + Σ coefficient · term, terms being variables or opaque
// subexpressions (an irreducible floordiv, mod, min, select, load). Terms are
// distinct and in a fixed order, coefficients are not zero.
struct LinearForm {
  int64_t constant = 0;
  std::vector<std::pair<Expr, int64_t>> terms;

  Expr ToExpr() const;
  int64_t CoefficientOf(int var_id) const;  // 0 if absent
};

// Always succeeds; floordiv and mod of sums are split into digits where the
// ranges prove it (mixed-radix form).
LinearForm ToLinear(const Expr& index, const RangeOf& ranges);
// Range of an integer expression; nullopt if some variable or a load is
// unbounded.
std::optional<Range> RangeOfExpr(const Expr& index, const RangeOf& ranges);
// Simplifies any expression: indices to linear form, decided comparisons and
// selects to their outcome, also inside loads' indices and value arithmetic
// (where no float result may change: no float identities except select and cast
// of equal dtype).
Expr Simplify(const Expr& expr, const RangeOf& ranges);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_SIMPLIFY_H_

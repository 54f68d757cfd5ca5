// The values that a binding takes, as a number in mixed radix: its terms are
// digits, and a predicate may cut a sum of digits short, as splits with a tail
// do. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_TREE_MIXED_RADIX_H_
#define TILEWRIGHT_SKETCH_TREE_MIXED_RADIX_H_

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {

using IsInner = std::function<bool(int var)>;

using Terms = std::vector<std::pair<Expr, int64_t>>;

bool SameTerms(const Terms& a, const Terms& b);

// One term of a binding as a digit of mixed radix: coefficient · (offset +
// 0..extent-1), offset already taken out.
struct Digit {
  size_t term;  // in LinearForm::terms
  int64_t coefficient;
  int64_t extent;
};

// Digits in ascending order of coefficient, joined one after the other; `count`
// values, `step` apart, from `offset` on.
struct Walk {
  int64_t offset = 0;
  int64_t count = 1;
  int64_t step = 1;
  bool has_gaps = false;
  bool has_overlaps = false;
  std::set<size_t> used;  // predicates that cut it
};

Walk JoinDigits(const LinearForm& form, std::vector<Digit> digits,
                int64_t offset, const std::vector<Expr>& predicates,
                const RangeOf& ranges);

// Where a split left a tail, its value X stands in the bindings and a predicate
// says X < extent. Then X is as good as a variable of that extent: it is
// replaced by one, here and in the values of the splits around it.
struct TailVar {
  int var;
  Expr value;
  int64_t extent;
};
struct Folded {
  std::vector<Expr> bindings;
  std::vector<Expr> predicates;  // the others
  std::vector<TailVar> tails;
  RangeOf ranges;
};

// Folds the tails whose values are made of inner variables alone.
Folded FoldTails(std::vector<Expr> bindings,
                 const std::vector<Expr>& predicates, const IsInner& is_inner,
                 const RangeOf& ranges);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TREE_MIXED_RADIX_H_

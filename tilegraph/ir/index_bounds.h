// Whether an affine index stays inside its tensor, given the extents of the
// axes and the conditions of the selects around it.
#ifndef TILEWRIGHT_TILEGRAPH_IR_INDEX_BOUNDS_H_
#define TILEWRIGHT_TILEGRAPH_IR_INDEX_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright {

class IndexBounds {
 public:
  // Axis i runs over [0, extents[i]).
  explicit IndexBounds(const std::vector<int64_t>& extents);

  // The bounds where `condition` is `value`. Understood are comparisons of i64
  // expressions joined so that each of them must hold; others make MayLeave
  // doubt nothing.
  IndexBounds Given(const Expr& condition, bool value) const;

  // True if `index` is affine in the axes and not proved to lie in [0, extent).
  // False if it does, or if it is not affine (floordiv, mod, data-dependent),
  // or stands under a condition that is not understood: then only evaluation
  // can tell.
  bool MayLeave(const Expr& index, int64_t extent) const;

 private:
  void Learn(const Expr& condition, bool value);
  void LearnNotNegative(const Expr& expr);
  void Narrow();
  bool NeverNegative(const Expr& expr) const;
  RangeOf Ranges() const;

  std::vector<Range> ranges_;
  std::vector<Expr>
      not_negative_;  // what the conditions say, each as an expression >= 0
  bool understood_ = true;
  bool reachable_ = true;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_INDEX_BOUNDS_H_

// Steps of a sum that add nothing, because a factor of theirs is known to be
// zero: taps of a convolution that lie in the padding.
//
// Where another factor is infinite or NaN, their product would be NaN; a
// schedule may leave such steps out all the same (docs/numerics.md).
#ifndef TILEWRIGHT_SKETCH_REPLAY_ZERO_STEPS_H_
#define TILEWRIGHT_SKETCH_REPLAY_ZERO_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::sketch {

// Whether `value` is zero wherever `load`, a part of it, is: products with it
// and casts of it are.
bool VanishesWith(const Expr& value, const Expr& load);

// Steps that read no known zero along dimension `dim` of what `load` reads:
// before <= index < extent - after, over the variables of the index, without
// what `ranges` decides. An empty expression: all of them, or nothing is known.
Expr ReadsNoZero(const Expr& load, const KnownZeros& zeros, int dim,
                 absl::Span<const int64_t> shape, const RangeOf& ranges);

// The share of all values of the variables of `load`'s index along `dim` for
// which it is a known zero. 0 if more than two variables move the index, or if
// it is not linear in them.
double ShareOfZeros(const Expr& load, const KnownZeros& zeros, int dim,
                    absl::Span<const int64_t> shape, const RangeOf& ranges);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_ZERO_STEPS_H_

#ifndef TILEWRIGHT_BENCH_MEASURING_KENDALL_TAU_H_
#define TILEWRIGHT_BENCH_MEASURING_KENDALL_TAU_H_

#include "absl/types/span.h"

namespace tilewright::bench {

// How far two rankings of the same things agree: the pairs in the same order
// less those in another, over all pairs (tau-a). Pairs of which one is no
// number are left out; NaN if none is left. REQUIRES: as many of both.
//
// With `apart` only pairs count of which one `a` is more than that share larger
// than the other.
double KendallTau(absl::Span<const double> a, absl::Span<const double> b,
                  double apart = 0);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_KENDALL_TAU_H_

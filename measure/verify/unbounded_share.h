// How much of an output the verifier's error bounds say nothing about. Such
// elements are not verified, whatever a kernel writes there.
#ifndef TILEWRIGHT_MEASURE_VERIFY_UNBOUNDED_SHARE_H_
#define TILEWRIGHT_MEASURE_VERIFY_UNBOUNDED_SHARE_H_

#include "tilegraph/reference/reference.h"

namespace tilewright::measure {

// A kernel is rejected if the share of any of its outputs is larger.
inline constexpr double kMostUnboundedShare = 0.03;

// The share of elements that may err by as much as the largest finite magnitude
// of the output, or for which running error analysis gave up (an infinite
// bound). An element without rounding errors (bound zero) is compared exactly,
// infinities and NaN too, so it is never one of them. `bound_factor`: how many
// bounds an element may err by.
double UnboundedShare(const ReferenceTensor& expected, double bound_factor);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_UNBOUNDED_SHARE_H_

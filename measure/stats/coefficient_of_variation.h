#ifndef TILEWRIGHT_MEASURE_STATS_COEFFICIENT_OF_VARIATION_H_
#define TILEWRIGHT_MEASURE_STATS_COEFFICIENT_OF_VARIATION_H_

#include "absl/types/span.h"

namespace tilewright::measure {

// std / |mean|, the standard deviation that of the population (divided by n):
// AdaTune, section 4.1. NaN if there is no value, one is not finite, or the
// mean is 0, so that no comparison with a threshold holds.
double CoefficientOfVariation(absl::Span<const double> values);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_COEFFICIENT_OF_VARIATION_H_

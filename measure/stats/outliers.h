// Outliers by the median absolute deviation (MAD), not by mean and standard
// deviation, which the outliers themselves move.
#ifndef TILEWRIGHT_MEASURE_STATS_OUTLIERS_H_
#define TILEWRIGHT_MEASURE_STATS_OUTLIERS_H_

#include <vector>

#include "absl/types/span.h"

namespace tilewright::measure {

// Modified z-scores (Iglewicz and Hoaglin, "How to detect and handle outliers",
// 1993) with a double MAD (Leys et al., 2013, each side its own, since
// latencies are skewed): with m the median of the values,
//
//   z_i = 0.6745 (x_i - m) / MAD, MAD the median of |x_j - m| over x_j <= m for
//   those below m, over x_j >= m for those above.
//
// Where a MAD is 0, what lies on that side of m scores infinity. Values that
// are not finite take no part and score themselves: NaN, or an infinity.
std::vector<double> ModifiedZScores(absl::Span<const double> values);

// Indices, ascending, of the values whose |score| is not at most `threshold`;
// those that are not finite are among them.
std::vector<int> FindOutliers(absl::Span<const double> values,
                              double threshold = 3);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_OUTLIERS_H_

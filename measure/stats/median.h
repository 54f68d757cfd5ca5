#ifndef TILEWRIGHT_MEASURE_STATS_MEDIAN_H_
#define TILEWRIGHT_MEASURE_STATS_MEDIAN_H_

#include <vector>

namespace tilewright::measure {

// The middle value, or the mean of the two middle ones. REQUIRES: not empty, no
// NaN.
double Median(std::vector<double> values);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_MEDIAN_H_

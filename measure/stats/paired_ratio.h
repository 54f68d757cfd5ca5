// Whether one kernel is faster than another, from rounds in each of which both
// were executed one right after the other: what slows down a whole round slows
// down both, and leaves their ratio.
#ifndef TILEWRIGHT_MEASURE_STATS_PAIRED_RATIO_H_
#define TILEWRIGHT_MEASURE_STATS_PAIRED_RATIO_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tilewright::measure {

// Ratios of times, of the first to the second: below 1 where it is faster.
struct PairedRatio {
  int rounds = 0;
  double median = 1;
  // The interval that holds the median of all rounds there might be in 95 of
  // 100 cases, whatever the noise is distributed like: two order statistics of
  // the ratios (the sign test's interval). 0 and infinity where there are too
  // few rounds, below six.
  double low = 0, high = 0;

  bool is_faster() const { return high < 1; }
  bool is_slower() const { return low > 1; }
  // Beyond the noise, or by half a percent although the noise allows for none:
  // what one who has to do no harm keeps away from.
  bool seems_slower() const { return is_slower() || median > 1.005; }
};

// `a_ns[i]` and `b_ns[i]` are of round i. InvalidArgument without a round, if
// the lengths differ, or if a time is not above 0 and finite.
absl::StatusOr<PairedRatio> CompareRounds(absl::Span<const double> a_ns,
                                          absl::Span<const double> b_ns);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_PAIRED_RATIO_H_

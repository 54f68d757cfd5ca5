// What a record keeps of repeated executions of one candidate.
#ifndef TILEWRIGHT_MEASURE_LATENCY_SUMMARY_H_
#define TILEWRIGHT_MEASURE_LATENCY_SUMMARY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tilewright::measure {

struct LatencySummary {
  int64_t n = 0;
  double mean_ns = 0;
  double median_ns = 0;  // of an even number: the mean of the middle two
  double min_ns = 0;
  double stddev_ns = 0;  // sqrt(sum((x - mean)^2) / n): AdaTune, section 3
};

// InvalidArgument if there is no latency, or one is negative or not finite.
absl::StatusOr<LatencySummary> SummarizeLatencies(
    absl::Span<const double> latencies_ns);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_LATENCY_SUMMARY_H_

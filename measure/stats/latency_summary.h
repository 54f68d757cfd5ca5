// The summary that a record keeps of repeated executions of one candidate.
#ifndef TILEWRIGHT_MEASURE_STATS_LATENCY_SUMMARY_H_
#define TILEWRIGHT_MEASURE_STATS_LATENCY_SUMMARY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "measure/record/record.pb.h"

namespace tilewright::measure {

struct LatencySummary {
  int64_t n = 0;
  double mean_ns = 0;
  double median_ns = 0;  // of an even number: the mean of the middle two
  double low_ns = 0;     // the ceil(n / 10)-th smallest one
  double min_ns = 0;
  double stddev_ns = 0;  // sqrt(sum((x - mean)^2) / n): AdaTune, section 3
};

// The statistic by which candidates are compared.
enum class Compared : uint8_t {
  // The median: single disturbances do not move it.
  kMedian,
  // The low tenth: disturbances that last for most of the executions, as
  // neighbours on a shared host do, do not move it. The minimum is no such
  // value: thread time has samples that are too short.
  kLow,
  // The mean, which DOPpler (section 4.3) and AdaTune compare: single
  // disturbances move it.
  kMean,
};

// InvalidArgument if there is no latency, or one is negative or not finite.
absl::StatusOr<LatencySummary> SummarizeLatencies(
    absl::Span<const double> latencies_ns);

double ComparedNs(const LatencySummary& summary, Compared compared);
// kLow of a record that has no low_ns: the median.
double ComparedNs(const LatencySummaryProto& summary, Compared compared);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_LATENCY_SUMMARY_H_

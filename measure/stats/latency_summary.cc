#include "measure/stats/latency_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "measure/stats/median.h"

namespace tilewright::measure {

namespace {

double LowerDecile(std::vector<double> values) {
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 10);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace

absl::StatusOr<LatencySummary> SummarizeLatencies(
    absl::Span<const double> latencies_ns) {
  if (latencies_ns.empty()) {
    return absl::InvalidArgumentError(
        "no latencies to summarize: run the candidate at least once");
  }
  double sum = 0;
  for (size_t i = 0; i < latencies_ns.size(); ++i) {
    const double latency = latencies_ns[i];
    if (!std::isfinite(latency) || latency < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "latency ", i, " is ", latency,
          " ns: the timer must give finite numbers that are not negative"));
    }
    sum += latency;
  }
  LatencySummary summary;
  summary.n = static_cast<int64_t>(latencies_ns.size());
  summary.mean_ns = sum / static_cast<double>(summary.n);
  summary.median_ns = Median({latencies_ns.begin(), latencies_ns.end()});
  summary.low_ns = LowerDecile({latencies_ns.begin(), latencies_ns.end()});
  summary.min_ns = *std::min_element(latencies_ns.begin(), latencies_ns.end());
  double squares = 0;
  for (const double latency : latencies_ns) {
    squares += (latency - summary.mean_ns) * (latency - summary.mean_ns);
  }
  summary.stddev_ns = std::sqrt(squares / static_cast<double>(summary.n));
  return summary;
}

double ComparedNs(const LatencySummary& summary, Compared compared) {
  switch (compared) {
    case Compared::kMedian:
      break;
    case Compared::kLow:
      return summary.low_ns;
    case Compared::kMean:
      return summary.mean_ns;
  }
  return summary.median_ns;
}

double ComparedNs(const LatencySummaryProto& summary, Compared compared) {
  switch (compared) {
    case Compared::kMedian:
      break;
    case Compared::kLow:
      return summary.low_ns() == 0 ? summary.median_ns() : summary.low_ns();
    case Compared::kMean:
      return summary.mean_ns();
  }
  return summary.median_ns();
}

}  // namespace tilewright::measure

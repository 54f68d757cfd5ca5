#include "measure/parallel/calibrator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/check.h"
#include "measure/stats/median.h"
#include "measure/stats/outliers.h"
#include "measure/stats/share_of.h"

namespace tilewright::measure {
namespace {

bool IsLatency(double value) { return std::isfinite(value) && value > 0; }

const ParallelMeasurement& Of(const Remeasurement& remeasurement,
                              absl::Span<const ParallelMeasurement> round) {
  TW_CHECK_GE(remeasurement.index, 0);
  TW_CHECK_LT(remeasurement.index, round.size());
  return round[static_cast<size_t>(remeasurement.index)];
}

}  // namespace

CalibratorOptions CalibratorOptions::AsPublished() {
  CalibratorOptions options;
  options.min_remeasured = 2;
  options.keep_faster = true;
  return options;
}

std::vector<int> ChooseRemeasured(absl::Span<const ParallelMeasurement> round,
                                  const CalibratorOptions& options,
                                  Random& random, absl::Span<const int> also) {
  std::vector<double> ratios;
  for (const ParallelMeasurement& measurement : round) {
    ratios.push_back(measurement.latency_ns / measurement.duration_ns);
  }
  std::vector<int> chosen = FindOutliers(ratios, options.outlier_threshold);
  chosen.insert(chosen.end(), also.begin(), also.end());
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(round.size()); ++i) {
    if (!std::binary_search(chosen.begin(), chosen.end(), i)) {
      others.push_back(i);
    }
  }
  random.Shuffle(absl::MakeSpan(others));
  const size_t wanted = static_cast<size_t>(
      std::max(options.smallest_sample,
               ShareOf(options.sample_share, static_cast<int>(round.size()))));
  while (chosen.size() < wanted && !others.empty()) {
    chosen.push_back(others.back());
    others.pop_back();
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::optional<double> RoundDelta(absl::Span<const ParallelMeasurement> round,
                                 absl::Span<const Remeasurement> remeasured,
                                 const CalibratorOptions& options) {
  std::vector<double> deltas;
  for (const Remeasurement& alone : remeasured) {
    const double parallel_ns = Of(alone, round).latency_ns;
    if (!IsLatency(alone.latency_ns) || !IsLatency(parallel_ns)) continue;
    const double delta = (parallel_ns - alone.latency_ns) / parallel_ns;
    deltas.push_back(options.signed_delta ? delta : std::abs(delta));
  }
  const int count = static_cast<int>(deltas.size());
  if (count == 0 || count < options.min_remeasured) return std::nullopt;
  const double mean =
      std::accumulate(deltas.begin(), deltas.end(), 0.0) / count;
  return std::max(0.0, options.median_delta ? Median(deltas) : mean);
}

std::vector<CalibratedLatency> Calibrate(
    absl::Span<const ParallelMeasurement> round,
    absl::Span<const Remeasurement> remeasured, std::optional<double> delta,
    const CalibratorOptions& options) {
  const double scale =
      delta.has_value() && *delta < std::min(options.scaling_limit, 1.0)
          ? 1 - *delta
          : 1;
  std::vector<CalibratedLatency> calibrated;
  for (const ParallelMeasurement& measurement : round) {
    calibrated.push_back({measurement.latency_ns * scale, false, scale});
  }
  for (const Remeasurement& alone : remeasured) {
    const double parallel_ns = Of(alone, round).latency_ns;
    if (!IsLatency(alone.latency_ns)) continue;
    if (options.keep_faster && alone.latency_ns >= parallel_ns) continue;
    calibrated[static_cast<size_t>(alone.index)] = {alone.latency_ns, true, 1};
  }
  return calibrated;
}

}  // namespace tilewright::measure

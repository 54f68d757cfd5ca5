#include "measure/stats/outliers.h"

#include <cmath>
#include <cstddef>

#include "measure/stats/median.h"

namespace tilewright::measure {
namespace {

// The 0.75 quantile of the standard normal distribution: makes the MAD of
// normal values their standard deviation.
constexpr double kNormalMad = 0.6745;

}  // namespace

std::vector<double> ModifiedZScores(absl::Span<const double> values) {
  std::vector<double> scores(values.begin(), values.end());
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.empty()) return scores;
  const double median = Median(finite);
  std::vector<double> below, above;
  for (const double value : finite) {
    if (value <= median) below.push_back(median - value);
    if (value >= median) above.push_back(value - median);
  }
  const double mad_below = Median(below);
  const double mad_above = Median(above);
  for (double& score : scores) {
    if (!std::isfinite(score)) continue;
    const double deviation = score - median;
    score = deviation == 0 ? 0
                           : kNormalMad * deviation /
                                 (deviation < 0 ? mad_below : mad_above);
  }
  return scores;
}

std::vector<int> FindOutliers(absl::Span<const double> values,
                              double threshold) {
  const std::vector<double> scores = ModifiedZScores(values);
  std::vector<int> outliers;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!(std::abs(scores[i]) <= threshold)) {
      outliers.push_back(static_cast<int>(i));
    }
  }
  return outliers;
}

}  // namespace tilewright::measure

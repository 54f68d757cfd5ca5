#include "measure/stats/coefficient_of_variation.h"

#include <cmath>
#include <limits>

namespace tilewright::measure {

double CoefficientOfVariation(absl::Span<const double> values) {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return kUndefined;
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (!std::isfinite(mean) || mean == 0) return kUndefined;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / n) / std::abs(mean);
}

}  // namespace tilewright::measure

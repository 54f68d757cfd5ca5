#include "costmodel/expected_improvement.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tilewright::costmodel {

double ExpectedScoreImprovement(double mean, double stddev, double best) {
  TW_CHECK_GE(stddev, 0.0);
  if (stddev == 0) return std::max(mean - best, 0.0);
  constexpr double kSqrtHalf = 0.70710678118654752440;
  constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
  const double z = (mean - best) / stddev;
  // Beyond these the density is no number above 0 any more.
  if (z > 38) return mean - best;
  if (z < -38) return 0;
  // erfc keeps all digits far below the mean.
  const double cumulative = std::erfc(-z * kSqrtHalf) / 2;
  const double density = kInverseSqrtTwoPi * std::exp(-z * z / 2);
  return std::max(stddev * (z * cumulative + density), 0.0);
}

}  // namespace tilewright::costmodel

#include "costmodel/expected_improvement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

// The integral of max(x - best, 0) over the normal density, by Simpson's rule
// in u = (x - best) / stddev.
double ByQuadrature(double mean, double stddev, double best,
                    int steps = 200'000) {
  const double z = (mean - best) / stddev;
  const auto integrand = [&](double u) {
    return u * std::exp(-(u - z) * (u - z) / 2) / std::sqrt(2 * M_PI);
  };
  const double end = std::max(z, 0.0) + 40;
  const double width = end / steps;
  double sum = integrand(0) + integrand(end);
  for (int i = 1; i < steps; ++i) {
    sum += (i % 2 == 1 ? 4 : 2) * integrand(i * width);
  }
  return stddev * sum * width / 3;
}

TEST(ExpectedImprovementTest, EqualsTheIntegralOfWhatIsGained) {
  for (const double z : {-10.0, -7.5, -4.0, -1.0, -0.1, 0.0, 0.3, 2.0, 12.0}) {
    for (const double stddev : {1e-3, 1.0, 250.0}) {
      const double best = 40;
      const double mean = best + z * stddev;
      const double expected = ByQuadrature(mean, stddev, best);
      EXPECT_NEAR(ByQuadrature(mean, stddev, best, 100'000) / expected, 1,
                  1e-11);  // it converged
      EXPECT_NEAR(ExpectedScoreImprovement(mean, stddev, best) / expected, 1,
                  1e-11)
          << "z " << z << ", stddev " << stddev;
    }
  }
}

TEST(ExpectedImprovementTest, EqualsTheMeanGainOfDraws) {
  Random random(5);
  for (const double mean : {0.4, 1.0, 1.7}) {
    const int draws = 400'000;
    double gain = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      const double drawn = std::max(mean + 0.5 * random.Normal() - 1.0, 0.0);
      gain += drawn / draws;
      squares += drawn * drawn / draws;
    }
    const double error = std::sqrt((squares - gain * gain) / draws);
    EXPECT_NEAR(ExpectedScoreImprovement(mean, 0.5, 1.0), gain, 4 * error);
  }
}

TEST(ExpectedImprovementTest, ACertainOutcomeGainsItsDifference) {
  EXPECT_EQ(ExpectedScoreImprovement(3, 0, 2), 1);
  EXPECT_EQ(ExpectedScoreImprovement(2, 0, 2), 0);
  EXPECT_EQ(ExpectedScoreImprovement(1, 0, 2), 0);
  // It is the limit of ever less uncertain ones.
  EXPECT_NEAR(ExpectedScoreImprovement(3, 1e-9, 2), 1, 1e-12);
}

TEST(ExpectedImprovementTest, IsNeverNegativeHoweverHopeless) {
  for (const double mean : {-20.0, -39.0, -1e3, -1e300}) {
    EXPECT_GE(ExpectedScoreImprovement(mean, 1, 0), 0);
  }
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(ExpectedScoreImprovement(-1, tiny, 0), 0);
  EXPECT_EQ(ExpectedScoreImprovement(1, tiny, 0), 1);
}

}  // namespace
}  // namespace tilewright::costmodel

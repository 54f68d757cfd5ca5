// Expected improvement: what a measurement is expected to gain over the best
// so far, if its outcome is normally distributed (Mockus 1978; Jones, Schonlau,
// Welch, "Efficient Global Optimization of Expensive Black-Box Functions",
// 1998, equation 15; AdaTune, equation 1).
//
//   E max(X - best, 0) = (mean - best) Phi(z) + stddev phi(z),
//   z = (mean - best) / stddev
//
// with X, a score, normal(mean, stddev). A stddev of 0 is a certain outcome:
// the improvement is max(mean - best, 0). The unit is that of the arguments.
// The relative error is below 1e-11 for z above -10; further out the result is
// at least never negative.
#ifndef TILEWRIGHT_COSTMODEL_EXPECTED_IMPROVEMENT_H_
#define TILEWRIGHT_COSTMODEL_EXPECTED_IMPROVEMENT_H_

namespace tilewright::costmodel {

// REQUIRES: stddev >= 0.
double ExpectedScoreImprovement(double mean, double stddev, double best);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_EXPECTED_IMPROVEMENT_H_

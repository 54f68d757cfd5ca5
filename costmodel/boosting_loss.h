// The losses that boosted trees reduce, over candidates' scores, by their first
// and second derivatives, and the measures by which training stops. Internal to
// costmodel.
#ifndef TILEWRIGHT_COSTMODEL_BOOSTING_LOSS_H_
#define TILEWRIGHT_COSTMODEL_BOOSTING_LOSS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tilewright::costmodel {

struct Derivatives {
  double first = 0, second = 0;
};

// Derivatives of sum_i w_i (f_i - y_i)^2 / 2 by f_i; w_i = y_i if
// `weigh_by_score`, else 1 (Ansor, section 5.2).
std::vector<Derivatives> SquaredError(absl::Span<const double> predicted,
                                      absl::Span<const double> scores,
                                      bool weigh_by_score);

// Derivatives of the mean, over the others j of one's task with another score,
// of
//   log(1 + exp(-sign(y_i - y_j) (f_i - f_j)))
// (Chen et al., "Learning to Optimize Tensor Programs", equation 2). Among more
// than 64 others in a task, 64 are drawn.
std::vector<Derivatives> PairwiseRank(
    absl::Span<const double> predicted, absl::Span<const double> scores,
    const std::vector<std::vector<int>>& tasks, uint64_t seed);

double RootMeanSquaredError(absl::Span<const double> predicted,
                            absl::Span<const double> scores);

// The mean over k = 1..most of the share of the k best candidates that are
// among the k with the best predictions; of equal ones the first is better.
double AverageRecall(absl::Span<const double> predicted,
                     absl::Span<const double> scores, int most);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_BOOSTING_LOSS_H_

#include "costmodel/boosting_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/random.h"

namespace tilewright::costmodel {
namespace {

constexpr int kMaxPartners = 64;

// Places in descending order of `values`.
std::vector<int> BestFirst(absl::Span<const double> values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return values[a] > values[b]; });
  return order;
}

}  // namespace

std::vector<Derivatives> SquaredError(absl::Span<const double> predicted,
                                      absl::Span<const double> scores,
                                      bool weigh_by_score) {
  std::vector<Derivatives> result(predicted.size());
  for (size_t i = 0; i < predicted.size(); ++i) {
    const double weight = weigh_by_score ? scores[i] : 1;
    result[i] = {weight * (predicted[i] - scores[i]), weight};
  }
  return result;
}

std::vector<Derivatives> PairwiseRank(
    absl::Span<const double> predicted, absl::Span<const double> scores,
    const std::vector<std::vector<int>>& tasks, uint64_t seed) {
  std::vector<Derivatives> result(predicted.size());
  Random random(seed);
  for (const std::vector<int>& task : tasks) {
    const int others = static_cast<int>(task.size()) - 1;
    const int partners = std::min(others, kMaxPartners);
    for (size_t a = 0; a < task.size(); ++a) {
      for (int p = 0; p < partners; ++p) {
        // The others follow in a circle.
        const size_t ahead =
            1 + (partners == others ? p : random.Index(others));
        const int i = task[a], j = task[(a + ahead) % task.size()];
        if (scores[i] == scores[j]) continue;
        const double sign = scores[i] > scores[j] ? 1 : -1;
        // How likely the model takes the pair to be the wrong way round.
        const double wrong =
            1 / (1 + std::exp(sign * (predicted[i] - predicted[j])));
        const double curvature = wrong * (1 - wrong) / partners;
        result[i].first -= sign * wrong / partners;
        result[j].first += sign * wrong / partners;
        result[i].second += curvature;
        result[j].second += curvature;
      }
    }
  }
  return result;
}

double RootMeanSquaredError(absl::Span<const double> predicted,
                            absl::Span<const double> scores) {
  double sum = 0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    sum += (predicted[i] - scores[i]) * (predicted[i] - scores[i]);
  }
  return std::sqrt(sum / std::max<size_t>(1, predicted.size()));
}

double AverageRecall(absl::Span<const double> predicted,
                     absl::Span<const double> scores, int most) {
  TW_CHECK_EQ(predicted.size(), scores.size());
  const std::vector<int> guess = BestFirst(predicted);
  const std::vector<int> truth = BestFirst(scores);
  most = std::min(most, static_cast<int>(guess.size()));
  std::vector<bool> guessed(guess.size()), wanted(guess.size());
  int hits = 0;
  double sum = 0;
  for (int k = 0; k < most; ++k) {
    guessed[guess[k]] = true;
    hits += wanted[guess[k]] ? 1 : 0;
    wanted[truth[k]] = true;
    hits += guessed[truth[k]] ? 1 : 0;
    sum += static_cast<double>(hits) / (k + 1);
  }
  return most == 0 ? 0 : sum / most;
}

}  // namespace tilewright::costmodel

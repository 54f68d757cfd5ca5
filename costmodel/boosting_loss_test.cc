#include "costmodel/boosting_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

using Values = std::vector<double>;

Values Draw(int size, uint64_t seed) {
  Random random(seed);
  Values values;
  for (int i = 0; i < size; ++i) values.push_back(random.Uniform());
  return values;
}

// Compares a loss's derivatives with differences. Second derivatives are those
// of the diagonal.
void ExpectDerivatives(const std::function<double(const Values&)>& loss,
                       const Values& at, const std::vector<Derivatives>& got) {
  constexpr double kStep = 1e-4;
  ASSERT_EQ(got.size(), at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    Values below = at, above = at;
    below[i] -= kStep;
    above[i] += kStep;
    EXPECT_NEAR(got[i].first, (loss(above) - loss(below)) / (2 * kStep), 1e-6);
    EXPECT_NEAR(got[i].second,
                (loss(above) - 2 * loss(at) + loss(below)) / (kStep * kStep),
                1e-4);
  }
}

TEST(BoostingLossTest, SquaredErrorsHaveTheirDerivatives) {
  const Values scores = Draw(7, 1), predicted = Draw(7, 2);
  for (const bool weigh : {false, true}) {
    ExpectDerivatives(
        [&](const Values& at) {
          double sum = 0;
          for (size_t i = 0; i < at.size(); ++i) {
            sum += (weigh ? scores[i] : 1) * std::pow(at[i] - scores[i], 2) / 2;
          }
          return sum;
        },
        predicted, SquaredError(predicted, scores, weigh));
  }
}

TEST(BoostingLossTest, RanksHaveTheirDerivativesWithinTasks) {
  Values scores = Draw(9, 3);
  scores[4] = scores[1];  // a tie
  const Values predicted = Draw(9, 4);
  const std::vector<std::vector<int>> tasks = {{0, 1, 2, 4, 7}, {3, 5, 6}, {8}};
  ExpectDerivatives(
      [&](const Values& at) {
        double sum = 0;
        for (const std::vector<int>& task : tasks) {
          for (const int i : task) {
            for (const int j : task) {
              if (scores[i] == scores[j]) continue;
              const double sign = scores[i] > scores[j] ? 1 : -1;
              sum += std::log(1 + std::exp(-sign * (at[i] - at[j]))) /
                     (task.size() - 1);
            }
          }
        }
        return sum;
      },
      predicted, PairwiseRank(predicted, scores, tasks, 5));
}

TEST(BoostingLossTest, DrawnPairsPointWhereAllPairsDo) {
  const Values scores = Draw(600, 6), predicted(600, 0.0);
  std::vector<std::vector<int>> tasks(1);
  tasks[0].resize(600);
  std::iota(tasks[0].begin(), tasks[0].end(), 0);
  const auto derivatives = PairwiseRank(predicted, scores, tasks, 1);
  // Without predictions, a candidate is pushed by the share of worse ones.
  for (int i = 0; i < 600; ++i) {
    const double worse =
        std::count_if(scores.begin(), scores.end(),
                      [&](double other) { return other < scores[i]; }) /
        599.0;
    EXPECT_NEAR(derivatives[i].first, 1 - 2 * worse, 0.5);
  }
  EXPECT_EQ(PairwiseRank(predicted, scores, tasks, 1)[17].first,
            derivatives[17].first);
}

TEST(BoostingLossTest, RecallIsTheShareOfTheBestAmongTheGuessed) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const int size = 1 + static_cast<int>(seed % 12);
    const Values scores = Draw(size, 2 * seed),
                 guess = Draw(size, 2 * seed + 1);
    const auto best = [&](const Values& values, int k) {
      std::vector<int> order(size);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](int a, int b) { return values[a] > values[b]; });
      return std::set<int>(order.begin(), order.begin() + k);
    };
    for (const int most : {1, 3, 20}) {
      const int last = std::min(most, size);
      double expected = 0;
      for (int k = 1; k <= last; ++k) {
        int hits = 0;
        for (const int i : best(scores, k)) hits += best(guess, k).count(i);
        expected += static_cast<double>(hits) / k / last;
      }
      EXPECT_NEAR(AverageRecall(guess, scores, most), expected, 1e-12);
    }
    EXPECT_DOUBLE_EQ(AverageRecall(scores, scores, 5), 1);
  }
}

}  // namespace
}  // namespace tilewright::costmodel

// How well forests predict, beside scikit-learn's, and whether their variance
// is that of their predictions.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "costmodel/feature_matrix.h"
#include "costmodel/random_forest.h"
#include "costmodel/testing/synthetic_data.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

struct SklearnError {
  std::string data;
  int trees, max_features, min_leaf;
  double error, error_of_mean;
};
const std::vector<SklearnError> kSklearnErrors = {
#include "costmodel/testing/sklearn_errors.inc"
};

double RootMeanSquare(const std::vector<double>& a,
                      const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / a.size());
}

TEST(RandomForestErrorTest, IsAtMostFivePercentAboveScikitLearns) {
  for (const SklearnError& sklearn : kSklearnErrors) {
    const SyntheticData train = MakeSyntheticData(sklearn.data, 1, 1000);
    const SyntheticData test = MakeSyntheticData(sklearn.data, 2, 1000);
    // The data are those that scikit-learn saw.
    double mean = 0;
    for (const double target : train.targets) mean += target / 1000;
    EXPECT_NEAR(RootMeanSquare(std::vector<double>(1000, mean), test.targets),
                sklearn.error_of_mean, 1e-5);
    const int seeds = 5;
    double error = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      RandomForestOptions options;
      options.trees = sklearn.trees;
      options.max_features = sklearn.max_features;
      options.min_leaf = sklearn.min_leaf;
      options.seed = seed;
      TW_ASSERT_OK_AND_ASSIGN(
          const RandomForest forest,
          RandomForest::Train(train.features, train.targets, options));
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<double> predicted,
                              forest.PredictMeans(test.features));
      error += RootMeanSquare(predicted, test.targets) / seeds;
    }
    const std::string what =
        sklearn.data + ", " + std::to_string(sklearn.trees) + " trees, " +
        std::to_string(sklearn.max_features) + " features, leaves of " +
        std::to_string(sklearn.min_leaf);
    std::cout << what << ": error " << error << ", scikit-learn's "
              << sklearn.error << ", ratio " << error / sklearn.error << "\n";
    EXPECT_LE(error, 1.05 * sklearn.error) << what;
  }
}

// Forests of many training sets of one function: the jackknife variance of one
// of them estimates how far their predictions lie apart. (It is too small where
// leaves hold single samples: docs/cost_models.md.)
TEST(RandomForestErrorTest, JackknifeIntervalsCoverTheMeanOfTrainingSets) {
  constexpr int kSets = 60, kSamples = 100, kPoints = 20;
  const SyntheticData points = MakeSyntheticData("friedman1", 999, kPoints);
  std::vector<std::vector<ForestPrediction>> sets;
  for (int set = 0; set < kSets; ++set) {
    const SyntheticData train =
        MakeSyntheticData("friedman1", 1000 + set, kSamples);
    RandomForestOptions options;
    options.trees = 500;
    options.seed = set;
    options.min_leaf = 10;
    TW_ASSERT_OK_AND_ASSIGN(
        const RandomForest forest,
        RandomForest::Train(train.features, train.targets, options));
    TW_ASSERT_OK_AND_ASSIGN(auto predictions, forest.Predict(points.features));
    sets.push_back(predictions);
  }
  double covered = 0, estimated_sum = 0, true_sum = 0;
  for (int p = 0; p < kPoints; ++p) {
    double mean = 0, variance = 0;
    for (const auto& set : sets) mean += set[p].mean / kSets;
    for (const auto& set : sets) {
      variance += (set[p].mean - mean) * (set[p].mean - mean) / (kSets - 1);
      estimated_sum += set[p].jackknife_variance / kSets;
      const double stddev = std::sqrt(std::max(set[p].jackknife_variance, 0.0));
      covered += std::fabs(set[p].mean - mean) <= 1.96 * stddev ? 1 : 0;
    }
    true_sum += variance;
  }
  std::cout << "variance: estimated " << estimated_sum << ", true " << true_sum
            << "; intervals of 95 % cover " << covered / (kSets * kPoints)
            << "\n";
  EXPECT_NEAR(estimated_sum / true_sum, 1, 0.2);
  EXPECT_GT(covered / (kSets * kPoints), 0.85);
  EXPECT_LT(covered / (kSets * kPoints), 0.99);
}

}  // namespace
}  // namespace tilewright::costmodel

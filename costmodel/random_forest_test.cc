#include "costmodel/random_forest.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "costmodel/feature_matrix.h"
#include "costmodel/testing/synthetic_data.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

// Uses the library as a team with nothing else of the project would.
TEST(RandomForestTest, LearnsAProductAndSaysHowSureItIs) {
  FeatureMatrix features(2);
  std::vector<double> targets;
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const float row[] = {static_cast<float>(random.Uniform()),
                         static_cast<float>(random.Uniform())};
    features.AddRow(row);
    targets.push_back(row[0] * row[1]);
  }
  RandomForestOptions options;
  options.seed = 7;
  TW_ASSERT_OK_AND_ASSIGN(const RandomForest forest,
                          RandomForest::Train(features, targets, options));
  FeatureMatrix candidates(2);
  candidates.AddRow({0.5F, 0.5F});
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<ForestPrediction> predictions,
                          forest.Predict(candidates));
  EXPECT_NEAR(predictions[0].mean, 0.25, 0.02);
  EXPECT_LT(std::sqrt(predictions[0].tree_variance), 0.05);
}

RandomForest Train(const SyntheticData& data, RandomForestOptions options) {
  auto forest = RandomForest::Train(data.features, data.targets, options);
  EXPECT_THAT(forest.status(), IsOk());
  return *std::move(forest);
}

TEST(RandomForestTest, TheNumberOfThreadsChangesNothing) {
  const SyntheticData data = MakeSyntheticData("friedman1", 3, 300);
  RandomForestOptions options;
  options.trees = 23;
  options.max_features = 4;
  options.seed = 11;
  const std::string alone = Train(data, options).Save();
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    EXPECT_EQ(Train(data, options).Save(), alone);
  }
  options.seed = 12;
  EXPECT_NE(Train(data, options).Save(), alone);
}

// The definition, sample by sample, over what each tree drew.
double BruteForceJackknife(uint64_t seed, int samples,
                           const std::vector<double>& trees) {
  const double b = trees.size();
  double mean = 0, squares = 0, variance = 0;
  for (const double tree : trees) mean += tree / b;
  for (const double tree : trees) squares += (tree - mean) * (tree - mean);
  std::vector<std::vector<int>> draws;
  for (size_t t = 0; t < trees.size(); ++t) {
    draws.push_back(BootstrapDraws(seed, static_cast<int>(t), samples));
  }
  for (int i = 0; i < samples; ++i) {
    double covariance = 0;
    for (size_t t = 0; t < trees.size(); ++t) {
      covariance += (draws[t][i] - 1) * (trees[t] - mean) / b;
    }
    variance += covariance * covariance;
  }
  return variance - samples / (b * b) * squares;
}

TEST(RandomForestTest, TheVarianceIsTheInfinitesimalJackknife) {
  const SyntheticData tests = MakeSyntheticData("linear", 9, 20);
  for (const int samples : {1, 7, 60, 250}) {
    const SyntheticData data = MakeSyntheticData("linear", 4, samples);
    for (const int trees : {1, 2, 50, 130}) {
      RandomForestOptions options;
      options.trees = trees;
      options.seed = 100 + trees;
      const RandomForest forest = Train(data, options);
      TW_ASSERT_OK_AND_ASSIGN(const auto predictions,
                              forest.Predict(tests.features));
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<double> means,
                              forest.PredictMeans(tests.features));
      for (int row = 0; row < tests.features.rows(); ++row) {
        const std::vector<double> each =
            forest.PredictTrees(tests.features.row(row));
        const double expected =
            BruteForceJackknife(options.seed, samples, each);
        EXPECT_NEAR(predictions[row].jackknife_variance, expected,
                    1e-9 * (1 + std::fabs(expected)));
        double mean = 0, variance = 0;
        for (const double tree : each) mean += tree / trees;
        for (const double tree : each) {
          variance += (tree - mean) * (tree - mean) / trees;
        }
        EXPECT_NEAR(predictions[row].mean, mean, 1e-9);
        EXPECT_NEAR(predictions[row].tree_variance, variance, 1e-9);
        EXPECT_DOUBLE_EQ(means[row], predictions[row].mean);
      }
    }
  }
}

TEST(RandomForestTest, ATreeLearnsWhatItDrewAndNothingElse) {
  const int samples = 40;
  const SyntheticData data = MakeSyntheticData("friedman1", 5, samples);
  RandomForestOptions options;
  options.trees = 6;
  const RandomForest forest = Train(data, options);
  for (int tree = 0; tree < options.trees; ++tree) {
    const std::vector<int> draws = BootstrapDraws(options.seed, tree, samples);
    int drawn = 0, left_out = 0;
    for (int i = 0; i < samples; ++i) {
      drawn += draws[i];
      const double predicted = forest.PredictTrees(data.features.row(i))[tree];
      const bool repeats = std::fabs(predicted - data.targets[i]) < 1e-9;
      EXPECT_EQ(repeats, draws[i] > 0);
      left_out += draws[i] == 0 ? 1 : 0;
    }
    EXPECT_EQ(drawn, samples);
    EXPECT_GT(left_out, 0);
  }
}

TEST(RandomForestTest, SavedAndLoadedItPredictsTheSame) {
  const SyntheticData data = MakeSyntheticData("schedules", 6, 120);
  RandomForestOptions options;
  options.trees = 12;
  const RandomForest forest = Train(data, options);
  TW_ASSERT_OK_AND_ASSIGN(const RandomForest loaded,
                          RandomForest::Load(forest.Save()));
  TW_ASSERT_OK_AND_ASSIGN(const auto before, forest.Predict(data.features));
  TW_ASSERT_OK_AND_ASSIGN(const auto after, loaded.Predict(data.features));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].mean, after[i].mean);
    EXPECT_EQ(before[i].jackknife_variance, after[i].jackknife_variance);
  }
  EXPECT_EQ(loaded.Save(), forest.Save());
}

TEST(RandomForestTest, DamagedBytesAreRefusedNeverLoaded) {
  const SyntheticData data = MakeSyntheticData("friedman1", 7, 30);
  RandomForestOptions options;
  options.trees = 3;
  const std::string saved = Train(data, options).Save();
  EXPECT_THAT(RandomForest::Load(""), StatusIs(absl::StatusCode::kDataLoss));
  for (size_t i = 0; i < saved.size(); ++i) {
    std::string damaged = saved;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(RandomForest::Load(damaged).ok()) << "byte " << i;
    EXPECT_FALSE(RandomForest::Load(saved.substr(0, i)).ok());
  }
}

TEST(RandomForestTest, WhatCannotBeLearnedIsRefusedWithTheReason) {
  SyntheticData data = MakeSyntheticData("friedman1", 8, 10);
  RandomForestOptions options;
  const auto refuses = [&](const char* reason) {
    EXPECT_THAT(RandomForest::Train(data.features, data.targets, options),
                StatusIs(absl::StatusCode::kInvalidArgument, reason));
  };
  options.trees = 0;
  refuses("at least one tree");
  options = {};
  data.targets.pop_back();
  refuses("10 samples have 9 targets");
  data.targets.push_back(std::numeric_limits<double>::quiet_NaN());
  refuses("must be finite");
  data = {FeatureMatrix(10), {}};
  refuses("at least one sample");
  const RandomForest forest =
      Train(MakeSyntheticData("friedman1", 8, 10), options);
  EXPECT_THAT(forest.Predict(FeatureMatrix(3)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "fitted to 10 features, not to 3"));
}

}  // namespace
}  // namespace tilewright::costmodel

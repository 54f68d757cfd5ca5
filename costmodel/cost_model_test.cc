// Tests of what all cost models share: their data, priors, bytes.

#include "costmodel/cost_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "costmodel/boosted_trees.h"
#include "costmodel/boosting_loss.h"
#include "costmodel/feature_matrix.h"
#include "costmodel/forest_cost_model.h"
#include "costmodel/random_forest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Candidates of one to three rows, whose score is what the rows contribute.
MeasuredCandidates Draw(int size, uint64_t seed, int most_rows) {
  Random random(seed);
  MeasuredCandidates drawn{{FeatureMatrix(6), {}, {}}, {}, {}};
  for (int i = 0; i < size; ++i) {
    const int rows = static_cast<int>(random.UniformInt(1, most_rows));
    double score = 0;
    for (int r = 0; r < rows; ++r) {
      std::vector<float> row;
      for (int c = 0; c < 6; ++c) {
        row.push_back(static_cast<float>(random.UniformInt(0, 9)));
      }
      score += 1 / (1 + 0.3 * std::fabs(row[0] + row[1] - 9)) + 0.05 * row[2];
      drawn.candidates.rows.AddRow(row);
    }
    drawn.candidates.row_counts.push_back(rows);
    drawn.scores.push_back(score / 3);
  }
  return drawn;
}

std::vector<double> Scores(const CostModel& model,
                           const CandidateFeatures& candidates) {
  const auto predictions = model.Predict(candidates);
  EXPECT_THAT(predictions.status(), IsOk());
  std::vector<double> scores;
  for (const Prediction& prediction : *predictions) {
    scores.push_back(prediction.score);
  }
  return scores;
}

double StandardDeviation(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / values.size();
  return RootMeanSquaredError(values, std::vector<double>(values.size(), mean));
}

BoostedTreesOptions AnsorWithFewRounds() {
  BoostedTreesOptions options = BoostedTreesOptions::Ansor();
  options.max_rounds = 150;
  return options;
}

TEST(BoostedTreesTest, LearnsScoresThatAreSumsOverRows) {
  const MeasuredCandidates train = Draw(600, 1, 3), test = Draw(300, 2, 3);
  BoostedTrees model(AnsorWithFewRounds());
  TW_ASSERT_OK(model.Fit(train));
  EXPECT_LT(RootMeanSquaredError(Scores(model, test.candidates), test.scores),
            0.35 * StandardDeviation(test.scores));
}

TEST(BoostedTreesTest, ManyRowsDoNotOvershoot) {
  // With a step for each of 20 rows a learning rate of 0.2 would be one of 4.
  MeasuredCandidates many{{FeatureMatrix(1), {}, {}}, {}, {}};
  for (int i = 0; i < 100; ++i) {
    for (int row = 0; row < 20; ++row) {
      many.candidates.rows.AddRow({static_cast<float>(i % 10)});
    }
    many.candidates.row_counts.push_back(20);
    many.scores.push_back(0.1 * (i % 10));
  }
  BoostedTrees model(AnsorWithFewRounds());
  TW_ASSERT_OK(model.Fit(many));
  EXPECT_LT(RootMeanSquaredError(Scores(model, many.candidates), many.scores),
            0.2 * StandardDeviation(many.scores));
}

TEST(BoostedTreesTest, RanksCandidatesOfTasksWhoseScoresDoNotCompare) {
  MeasuredCandidates train = Draw(600, 3, 1);
  for (int i = 0; i < 600; ++i) {
    train.tasks.push_back(i % 3);
    train.scores[i] = train.scores[i] * (1 + i % 3) + 10 * (i % 3);
  }
  const MeasuredCandidates test = Draw(200, 4, 1);
  const auto options = [](BoostedTreesOptions::Loss loss) {
    BoostedTreesOptions options = BoostedTreesOptions::AutoTvm(loss);
    options.max_rounds = 200;
    return options;
  };
  BoostedTrees rank(options(BoostedTreesOptions::Loss::kPairwiseRank));
  TW_ASSERT_OK(rank.Fit(train));
  const double recall =
      AverageRecall(Scores(rank, test.candidates), test.scores, 50);
  EXPECT_GT(recall, 0.7);
  // Scores themselves say more about the task than about the candidate.
  BoostedTrees regression(options(BoostedTreesOptions::Loss::kSquaredError));
  TW_ASSERT_OK(regression.Fit(train));
  EXPECT_LT(AverageRecall(Scores(regression, test.candidates), test.scores, 50),
            recall - 0.1);
  EXPECT_GT(rank.rounds(), 5);
}

TEST(BoostedTreesTest, EqualSeedAndThreadsGiveEqualBytes) {
  const MeasuredCandidates train = Draw(300, 5, 2);
  for (const int threads : {1, 2}) {
    BoostedTreesOptions options = BoostedTreesOptions::AutoTvm();
    options.threads = threads;
    options.max_rounds = 40;
    options.subsample = 0.7;
    BoostedTrees a(options), b(options);
    TW_ASSERT_OK(a.Fit(train));
    TW_ASSERT_OK(b.Fit(train));
    EXPECT_EQ(*a.Save(), *b.Save());
    options.seed = 9;
    BoostedTrees c(options);
    TW_ASSERT_OK(c.Fit(train));
    EXPECT_NE(*a.Save(), *c.Save());
  }
}

TEST(BoostedTreesTest, StopsWhereNothingImproves) {
  MeasuredCandidates flat = Draw(50, 6, 1);
  flat.scores.assign(50, 0.0);
  BoostedTrees model(BoostedTreesOptions::Ansor());
  TW_ASSERT_OK(model.Fit(flat));
  EXPECT_EQ(model.rounds(), 1);
}

// Tests of every model: the parameter makes one, and another from bytes.
struct Kind {
  const char* name;
  std::function<std::unique_ptr<CostModel>()> make;
  std::function<absl::StatusOr<std::unique_ptr<CostModel>>(const std::string&)>
      load;
};

class EveryCostModelTest : public ::testing::TestWithParam<Kind> {};

TEST_P(EveryCostModelTest, APriorIsWhatLearningBeginsWith) {
  MeasuredCandidates train = Draw(400, 7, 1), test = Draw(200, 8, 1);
  // Half of what the scores are made of is known before, and is no feature.
  Random random(9);
  for (MeasuredCandidates* data : {&train, &test}) {
    for (double& score : data->scores) {
      data->candidates.priors.push_back(random.Uniform(0, 3));
      score += data->candidates.priors.back();
    }
  }
  const std::unique_ptr<CostModel> model = GetParam().make();
  TW_ASSERT_OK(model->Fit(train));
  EXPECT_LT(RootMeanSquaredError(Scores(*model, test.candidates), test.scores),
            0.3 * StandardDeviation(test.scores));
  // A candidate of a higher prior is predicted higher by as much.
  CandidateFeatures raised = test.candidates;
  for (double& prior : raised.priors) prior += 0.5;
  const std::vector<double> low = Scores(*model, test.candidates);
  const std::vector<double> high = Scores(*model, raised);
  for (size_t i = 0; i < low.size(); ++i) {
    EXPECT_NEAR(high[i] - low[i], 0.5, 1e-5);
  }
}

TEST_P(EveryCostModelTest, SavedAndLoadedItPredictsTheSame) {
  const MeasuredCandidates train = Draw(200, 10, 2), test = Draw(50, 11, 3);
  const std::unique_ptr<CostModel> model = GetParam().make();
  TW_ASSERT_OK(model->Fit(train));
  TW_ASSERT_OK_AND_ASSIGN(const std::string bytes, model->Save());
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<CostModel> loaded,
                          GetParam().load(bytes));
  EXPECT_EQ(Scores(*loaded, test.candidates), Scores(*model, test.candidates));
  for (size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 97) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_FALSE(GetParam().load(damaged).ok());
    EXPECT_FALSE(GetParam().load(bytes.substr(0, i)).ok());
  }
}

TEST_P(EveryCostModelTest, WhatDoesNotFitIsRefusedWithTheReason) {
  const std::unique_ptr<CostModel> model = GetParam().make();
  MeasuredCandidates data = Draw(20, 12, 2);
  EXPECT_THAT(model->Predict(data.candidates),
              StatusIs(absl::StatusCode::kFailedPrecondition, "call Fit"));
  EXPECT_THAT(model->Save(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "call Fit"));
  EXPECT_THAT(model->Fit({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                       "at least one measured candidate"));
  TW_ASSERT_OK(model->Fit(data));
  EXPECT_THAT(model->Predict({FeatureMatrix(4)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "fitted to 6 features, not to 4"));
  data.scores.pop_back();
  EXPECT_THAT(model->Fit(data), StatusIs(absl::StatusCode::kInvalidArgument,
                                         "20 candidates have 19 scores"));
  data.scores.push_back(kInfinity);
  EXPECT_THAT(model->Fit(data), StatusIs(absl::StatusCode::kInvalidArgument,
                                         "scores of candidates must be"));
  data.candidates.row_counts.back() += 1;
  EXPECT_THAT(model->Fit(data), StatusIs(absl::StatusCode::kInvalidArgument,
                                         "at least one row each"));
  // It still is what it was fitted to first.
  EXPECT_EQ(Scores(*model, Draw(20, 12, 2).candidates).size(), 20U);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryCostModelTest,
    ::testing::Values(Kind{"BoostedTrees",
                           [] {
                             return std::make_unique<BoostedTrees>(
                                 AnsorWithFewRounds());
                           },
                           [](const std::string& bytes) {
                             return BoostedTrees::Load(bytes,
                                                       AnsorWithFewRounds());
                           }},
                      Kind{"RandomForest",
                           [] {
                             return std::make_unique<ForestCostModel>(
                                 ForestCostModelOptions());
                           },
                           [](const std::string& bytes) {
                             return ForestCostModel::Load(bytes, {});
                           }}),
    [](const auto& info) { return info.param.name; });

TEST(ForestCostModelTest, VariancesAreThoseOfTheForest) {
  const MeasuredCandidates train = Draw(100, 13, 1), test = Draw(30, 14, 1);
  ForestCostModelOptions options;
  TW_ASSERT_OK_AND_ASSIGN(
      const RandomForest forest,
      RandomForest::Train(train.candidates.rows, train.scores, options.forest));
  TW_ASSERT_OK_AND_ASSIGN(const auto expected,
                          forest.Predict(test.candidates.rows));
  for (const auto variance : {ForestCostModelOptions::Variance::kTrees,
                              ForestCostModelOptions::Variance::kJackknife}) {
    options.variance = variance;
    ForestCostModel model(options);
    TW_ASSERT_OK(model.Fit(train));
    TW_ASSERT_OK_AND_ASSIGN(const auto got, model.Predict(test.candidates));
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].score, expected[i].mean);
      EXPECT_EQ(
          *got[i].variance,
          std::max(0.0, variance == ForestCostModelOptions::Variance::kTrees
                            ? expected[i].tree_variance
                            : expected[i].jackknife_variance));
    }
  }
}

TEST(ForestCostModelTest, RowsAreAddedAsTheCountsTheyStandFor) {
  CandidateFeatures candidates{FeatureMatrix(2), {2, 1}, {}};
  candidates.rows.AddRow({3, 0});  // counts of 7 and 0
  candidates.rows.AddRow({1, 1});  // 1 and 1
  candidates.rows.AddRow({0.3F, 5});
  const FeatureMatrix added = AddRows(candidates);
  EXPECT_EQ(added.rows(), 2);
  EXPECT_NEAR(added.at(0, 0), std::log2(9), 1e-6);
  EXPECT_NEAR(added.at(0, 1), 1, 1e-6);
  EXPECT_EQ(added.at(1, 0), 0.3F);
  EXPECT_EQ(added.at(1, 1), 5);
}

TEST(CostModelTest, ThroughputsAreRelativeToTheBestOfTheTask) {
  EXPECT_THAT(RelativeThroughputs({2.0, 8.0, kInfinity, 4.0}, {}),
              ElementsAre(1, 0.25, 0, 0.5));
  EXPECT_THAT(RelativeThroughputs({2.0, 8.0, kInfinity, 4.0, kInfinity},
                                  {1, 0, 0, 0, 2}),
              ElementsAre(1, 0.5, 0, 1, 0));
}

}  // namespace
}  // namespace tilewright::costmodel

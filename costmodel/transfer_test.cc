#include "costmodel/transfer.h"

#include <cmath>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "costmodel/boosted_trees.h"
#include "costmodel/boosting_loss.h"
#include "costmodel/cost_model.h"
#include "costmodel/feature_matrix.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

// Scores of tasks that differ in where their best is.
MeasuredCandidates Draw(int size, double best, uint64_t seed) {
  Random random(seed);
  MeasuredCandidates drawn{{FeatureMatrix(5), {}, {}}, {}, {}};
  for (int i = 0; i < size; ++i) {
    std::vector<float> row;
    for (int c = 0; c < 5; ++c) {
      row.push_back(static_cast<float>(random.UniformInt(0, 9)));
    }
    drawn.candidates.rows.AddRow(row);
    drawn.scores.push_back(1 / (1 + 0.2 * std::fabs(row[0] + row[1] - best) +
                                0.1 * std::fabs(row[2] - 4)));
  }
  return drawn;
}

std::unique_ptr<BoostedTrees> NewTrees() {
  BoostedTreesOptions options = BoostedTreesOptions::AutoTvm();
  options.max_rounds = 100;
  return std::make_unique<BoostedTrees>(options);
}

double ErrorOf(const CostModel& model, const MeasuredCandidates& test) {
  const auto predictions = model.Predict(test.candidates);
  EXPECT_THAT(predictions.status(), IsOk());
  std::vector<double> scores;
  for (const Prediction& prediction : *predictions) {
    scores.push_back(prediction.score);
  }
  return RootMeanSquaredError(scores, test.scores);
}

TEST(TransferTest, FewMeasurementsAreEnoughWhereMoreWereMadeElsewhere) {
  std::shared_ptr<BoostedTrees> global = NewTrees();
  TW_ASSERT_OK(global->Fit(Draw(600, 9, 1)));
  const MeasuredCandidates few = Draw(24, 9.7, 2), test = Draw(300, 9.7, 3);
  const std::unique_ptr<BoostedTrees> alone = NewTrees();
  TW_ASSERT_OK(alone->Fit(few));
  TransferModel transfer(global, NewTrees());
  EXPECT_DOUBLE_EQ(ErrorOf(transfer, test), ErrorOf(*global, test));
  TW_ASSERT_OK(transfer.Fit(few));
  EXPECT_LT(ErrorOf(transfer, test), 0.8 * ErrorOf(*alone, test));
}

TEST(TransferTest, TheGlobalModelFadesAndIsForgotten) {
  std::shared_ptr<BoostedTrees> global = NewTrees();
  TW_ASSERT_OK(global->Fit(Draw(200, 2, 1)));
  TransferModel transfer(global, NewTrees());
  TW_ASSERT_OK(transfer.Fit(Draw(64, 9, 2)));
  EXPECT_DOUBLE_EQ(transfer.weight(), 0.5);
  TW_ASSERT_OK(transfer.Fit(Draw(276, 9, 2)));
  EXPECT_GT(transfer.weight(), 0.05);
  const MeasuredCandidates many = Draw(277, 9, 2), test = Draw(100, 9, 3);
  TW_ASSERT_OK(transfer.Fit(many));
  EXPECT_EQ(transfer.weight(), 0);
  const std::unique_ptr<BoostedTrees> alone = NewTrees();
  TW_ASSERT_OK(alone->Fit(many));
  EXPECT_EQ(ErrorOf(transfer, test), ErrorOf(*alone, test));
}

TEST(TransferTest, SavingSaysWhatToDoInstead) {
  TransferModel transfer(NewTrees(), NewTrees());
  EXPECT_THAT(transfer.Save(), StatusIs(absl::StatusCode::kUnimplemented,
                                        "save its two models"));
}

}  // namespace
}  // namespace tilewright::costmodel

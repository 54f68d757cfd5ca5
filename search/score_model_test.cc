#include "search/score_model.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "costmodel/cost_model.h"
#include "costmodel/feature_matrix.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "search/candidate.h"

namespace tilewright::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kFailed = std::numeric_limits<double>::infinity();

// Remembers what it was given; predicts the sum of a candidate's features.
class FakeModel : public costmodel::CostModel {
 public:
  explicit FakeModel(std::vector<costmodel::MeasuredCandidates>& fits)
      : fits_(fits) {}
  absl::Status Fit(const costmodel::MeasuredCandidates& measured) override {
    fits_.push_back(measured);
    return costmodel::Check(measured);
  }
  absl::StatusOr<std::vector<costmodel::Prediction>> Predict(
      const costmodel::CandidateFeatures& candidates) const override {
    std::vector<costmodel::Prediction> predictions;
    int row = 0;
    for (int i = 0; i < candidates.size(); ++i) {
      double sum = 0;
      for (int k = 0; k < candidates.row_count(i); ++k, ++row) {
        for (const float value : candidates.rows.row(row)) sum += value;
      }
      predictions.push_back({sum, std::nullopt});
    }
    return predictions;
  }
  absl::StatusOr<std::string> Save() const override { return ""; }

 private:
  std::vector<costmodel::MeasuredCandidates>& fits_;
};

// Candidates have one row or several.
costmodel::FeatureMatrix Rows(const std::vector<std::vector<float>>& rows) {
  costmodel::FeatureMatrix features(2);
  for (const std::vector<float>& row : rows) features.AddRow(row);
  return features;
}

TEST(ScoreModelTest, ScoresAreRelativeWithinATaskAndZeroOfFailures) {
  std::vector<costmodel::MeasuredCandidates> fits;
  ScoreModel model(std::make_unique<FakeModel>(fits));
  model.Add(0, Rows({{1, 2}}), 20);
  model.Add(1, Rows({{3, 4}, {5, 6}}), 7);
  model.Add(0, Rows({{7, 8}}), 10);
  model.Add(0, Rows({{9, 1}}), kFailed);
  TW_ASSERT_OK(model.Fit());
  ASSERT_EQ(fits.size(), 1);
  EXPECT_THAT(fits[0].scores, ElementsAre(0.5, 1, 1, 0));
  EXPECT_THAT(fits[0].tasks, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(fits[0].candidates.row_counts, ElementsAre(1, 2, 1, 1));
  EXPECT_EQ(fits[0].candidates.rows.at(2, 1), 6);
  Candidate one, two;
  one.features = Rows({{1, 1}, {1, 1}});
  two.features = Rows({{5, 6}});
  TW_ASSERT_OK_AND_ASSIGN(const auto predictions, model.Predict({&one, &two}));
  EXPECT_EQ(predictions[0].score, 4);
  EXPECT_EQ(predictions[1].score, 11);
}

TEST(ScoreModelTest, LearnsOnceThereIsACandidateThatWorked) {
  std::vector<costmodel::MeasuredCandidates> fits;
  ScoreModel model(std::make_unique<FakeModel>(fits));
  TW_ASSERT_OK(model.Fit());
  model.Add(0, Rows({{1, 2}}), kFailed);
  TW_ASSERT_OK(model.Fit());
  EXPECT_FALSE(model.fitted());
  EXPECT_THAT(fits, IsEmpty());
  model.Add(0, Rows({{1, 3}}), 5);
  TW_ASSERT_OK(model.Fit());
  EXPECT_TRUE(model.fitted());
  TW_ASSERT_OK(model.Fit());  // nothing new
  EXPECT_EQ(fits.size(), 1);
}

TEST(ScoreModelTest, LearnsAnewOnceThereIsEnoughMore) {
  std::vector<costmodel::MeasuredCandidates> fits;
  ScoreModel model(std::make_unique<FakeModel>(fits), 0.2);
  std::vector<int> sizes;
  for (int i = 1; i <= 20; ++i) {
    model.Add(0, Rows({{1, 2}}), i);
    TW_ASSERT_OK(model.Fit());
    if (static_cast<int>(fits.size()) > static_cast<int>(sizes.size()))
      sizes.push_back(i);
  }
  EXPECT_THAT(sizes, ElementsAre(1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18));
}

}  // namespace
}  // namespace tilewright::search

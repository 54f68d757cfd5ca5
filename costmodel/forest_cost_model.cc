#include "costmodel/forest_cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace tilewright::costmodel {

FeatureMatrix AddRows(const CandidateFeatures& candidates) {
  if (candidates.row_counts.empty()) return candidates.rows;
  const int columns = candidates.rows.columns();
  FeatureMatrix added(columns);
  std::vector<float> sums(columns);
  int row = 0;
  for (int i = 0; i < candidates.size(); ++i) {
    const int end = row + candidates.row_count(i);
    if (end == row + 1) {
      added.AddRow(candidates.rows.row(row++));
      continue;
    }
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int r = row; r < end; ++r) {
        sum += std::exp2(candidates.rows.at(r, column)) - 1;
      }
      sums[column] = static_cast<float>(std::log2(std::max(sum, 0.0) + 1));
    }
    added.AddRow(sums);
    row = end;
  }
  return added;
}

absl::Status ForestCostModel::Fit(const MeasuredCandidates& measured) {
  TW_RETURN_IF_ERROR(Check(measured));
  std::vector<double> targets = measured.scores;
  for (size_t i = 0; i < targets.size(); ++i) {
    targets[i] -= measured.candidates.prior(static_cast<int>(i));
  }
  TW_ASSIGN_OR_RETURN(RandomForest forest,
                      RandomForest::Train(AddRows(measured.candidates), targets,
                                          options_.forest));
  forest_ = std::move(forest);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Prediction>> ForestCostModel::Predict(
    const CandidateFeatures& candidates) const {
  TW_RETURN_IF_ERROR(Check(candidates));
  if (!forest_.has_value()) {
    return absl::FailedPreconditionError(
        "a random forest predicts only what it was fitted to: call Fit");
  }
  TW_ASSIGN_OR_RETURN(const std::vector<ForestPrediction> predicted,
                      forest_->Predict(AddRows(candidates)));
  std::vector<Prediction> predictions;
  predictions.reserve(predicted.size());
  for (size_t i = 0; i < predicted.size(); ++i) {
    const double variance =
        options_.variance == ForestCostModelOptions::Variance::kTrees
            ? predicted[i].tree_variance
            : predicted[i].jackknife_variance;
    predictions.push_back(
        {predicted[i].mean + candidates.prior(static_cast<int>(i)),
         std::max(variance, 0.0)});
  }
  return predictions;
}

absl::StatusOr<std::string> ForestCostModel::Save() const {
  if (!forest_.has_value()) {
    return absl::FailedPreconditionError(
        "there is no random forest to save yet: call Fit");
  }
  return forest_->Save();
}

absl::StatusOr<std::unique_ptr<ForestCostModel>> ForestCostModel::Load(
    std::string_view bytes, const ForestCostModelOptions& options) {
  TW_ASSIGN_OR_RETURN(RandomForest forest, RandomForest::Load(bytes));
  auto model = std::make_unique<ForestCostModel>(options);
  model->forest_ = std::move(forest);
  return model;
}

}  // namespace tilewright::costmodel

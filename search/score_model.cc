#include "search/score_model.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::search {
namespace {

void AddTo(costmodel::CandidateFeatures& all,
           const costmodel::FeatureMatrix& features) {
  TW_CHECK_GE(features.rows(), 1);
  if (all.row_counts.empty())
    all.rows = costmodel::FeatureMatrix(features.columns());
  for (int row = 0; row < features.rows(); ++row)
    all.rows.AddRow(features.row(row));
  all.row_counts.push_back(features.rows());
}

}  // namespace

void ScoreModel::Add(int task, const costmodel::FeatureMatrix& features,
                     double ns) {
  AddTo(measured_.candidates, features);
  measured_.tasks.push_back(task);
  ns_.push_back(ns);
}

absl::Status ScoreModel::Fit() {
  const bool some_worked = std::any_of(
      ns_.begin(), ns_.end(), [](double ns) { return std::isfinite(ns); });
  const auto samples = static_cast<double>(ns_.size());
  const auto before = static_cast<double>(fitted_samples_);
  if (!some_worked || !(samples > before) || samples < (1 + growth_) * before)
    return absl::OkStatus();
  measured_.scores = costmodel::RelativeThroughputs(ns_, measured_.tasks);
  TW_RETURN_IF_ERROR(model_->Fit(measured_));
  fitted_samples_ = ns_.size();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<costmodel::Prediction>> ScoreModel::Predict(
    absl::Span<const Candidate* const> candidates) const {
  TW_CHECK(fitted());
  costmodel::CandidateFeatures features;
  for (const Candidate* candidate : candidates)
    AddTo(features, candidate->features);
  return model_->Predict(features);
}

}  // namespace tilewright::search

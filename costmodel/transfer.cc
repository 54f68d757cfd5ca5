#include "costmodel/transfer.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/status_macros.h"

namespace tilewright::costmodel {

absl::StatusOr<CandidateFeatures> TransferModel::WithPriors(
    const CandidateFeatures& candidates, double weight) const {
  TW_RETURN_IF_ERROR(Check(candidates));
  CandidateFeatures with_priors = candidates;
  if (weight == 0) return with_priors;
  TW_ASSIGN_OR_RETURN(const std::vector<Prediction> global,
                      global_->Predict(candidates));
  with_priors.priors.resize(candidates.size());
  for (int i = 0; i < candidates.size(); ++i) {
    // A prior of the candidates stands in what the global model says.
    with_priors.priors[i] =
        weight * global[i].score + (1 - weight) * candidates.prior(i);
  }
  return with_priors;
}

absl::Status TransferModel::Fit(const MeasuredCandidates& measured) {
  TW_RETURN_IF_ERROR(Check(measured));
  double weight = std::exp2(-measured.candidates.size() / 64.0);
  if (weight < 0.05) weight = 0;
  MeasuredCandidates with_priors = measured;
  TW_ASSIGN_OR_RETURN(with_priors.candidates,
                      WithPriors(measured.candidates, weight));
  TW_RETURN_IF_ERROR(local_->Fit(with_priors));
  weight_ = weight;
  is_fitted_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Prediction>> TransferModel::Predict(
    const CandidateFeatures& candidates) const {
  if (!is_fitted_) return global_->Predict(candidates);
  TW_ASSIGN_OR_RETURN(const CandidateFeatures with_priors,
                      WithPriors(candidates, weight_));
  return local_->Predict(with_priors);
}

absl::StatusOr<std::string> TransferModel::Save() const {
  return absl::UnimplementedError(
      "a transferred model is not saved: save its two models, and fit again");
}

}  // namespace tilewright::costmodel

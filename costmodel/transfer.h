// A model learned from other tasks is the start of the one learned from this
// task: the sum of a global and a local model (Chen et al., "Learning to
// Optimize Tensor Programs", section 4). The global one needs features that
// mean the same in both (stores, curves).
//
// As in TVM, the global model's predictions are the prior of the local one,
// with a weight of 2^-(n / 64) for n candidates measured here, and none below
// 0.05 (more than 276).
#ifndef TILEWRIGHT_COSTMODEL_TRANSFER_H_
#define TILEWRIGHT_COSTMODEL_TRANSFER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "costmodel/cost_model.h"

namespace tilewright::costmodel {

class TransferModel : public CostModel {
 public:
  // `global` has been fitted; `local` need not be.
  TransferModel(std::shared_ptr<const CostModel> global,
                std::unique_ptr<CostModel> local)
      : global_(std::move(global)), local_(std::move(local)) {}

  absl::Status Fit(const MeasuredCandidates& measured) override;
  // Before the first Fit, what the global model says. Variances are the local
  // model's.
  absl::StatusOr<std::vector<Prediction>> Predict(
      const CandidateFeatures& candidates) const override;
  // Unimplemented: save both models, and fit again.
  absl::StatusOr<std::string> Save() const override;

  // The global model's weight; 1 before the first Fit.
  double weight() const { return weight_; }

 private:
  absl::StatusOr<CandidateFeatures> WithPriors(
      const CandidateFeatures& candidates, double weight) const;

  const std::shared_ptr<const CostModel> global_;
  const std::unique_ptr<CostModel> local_;
  double weight_ = 1;
  bool is_fitted_ = false;
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_TRANSFER_H_

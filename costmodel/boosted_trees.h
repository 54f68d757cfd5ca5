// Gradient-boosted trees by xgboost (Chen and Guestrin, KDD 2016), as Ansor and
// AutoTVM use them: a candidate's score is the sum of what its rows of features
// contribute, and the prior where boosting begins.
//
//   BoostedTrees model(BoostedTreesOptions::Ansor());
//   absl::Status status = model.Fit(measured);
//   absl::StatusOr<std::vector<Prediction>> predictions =
//       model.Predict(candidates);
//
// Equal data, options, seed and number of threads give equal predictions.
#ifndef TILEWRIGHT_COSTMODEL_BOOSTED_TREES_H_
#define TILEWRIGHT_COSTMODEL_BOOSTED_TREES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "costmodel/cost_model.h"

namespace tilewright::costmodel {

struct BoostedTreesOptions {
  enum class Loss : uint8_t {
    kSquaredError,  // scores are predicted
    kPairwiseRank,  // only their order within a task
  };
  enum class StopBy : uint8_t { kRootMeanSquaredError, kAverageRecall };

  // Bounds and regularization of a tree, and the share of rows it learns from.
  int max_depth = 10;
  double gamma = 0.001;  // least gain of a split
  double min_child_weight = 0;
  double eta = 0.2;  // learning rate
  double lambda = 1, alpha = 0;
  double subsample = 1;

  Loss loss = Loss::kSquaredError;
  bool weigh_by_score = true;  // squared errors: good candidates count more
  // Boosting ends after so many trees without a better value, on the candidates
  // that it is fitted to; recall is the mean of the tasks'.
  StopBy stop_by = StopBy::kRootMeanSquaredError;
  int patience = 50;
  int recall_at = 64;
  int max_rounds = 10'000;
  uint64_t seed = 43;
  int threads = 1;

  // The options in the sources' code (TVM 0.18: auto_scheduler and autotvm).
  static BoostedTreesOptions Ansor();
  static BoostedTreesOptions AutoTvm(Loss loss = Loss::kSquaredError);
};

class BoostedTrees : public CostModel {
 public:
  explicit BoostedTrees(const BoostedTreesOptions& options);
  ~BoostedTrees() override;

  // InvalidArgument also if an option is none that xgboost takes.
  absl::Status Fit(const MeasuredCandidates& measured) override;
  // Without variances.
  absl::StatusOr<std::vector<Prediction>> Predict(
      const CandidateFeatures& candidates) const override;
  absl::StatusOr<std::string> Save() const override;
  // DataLoss or InvalidArgument says what is wrong with the bytes. The options
  // are for later fits.
  static absl::StatusOr<std::unique_ptr<BoostedTrees>> Load(
      std::string_view bytes, const BoostedTreesOptions& options);

  // Trees; 0 before the first Fit.
  int rounds() const;

 private:
  class Booster;
  const BoostedTreesOptions options_;
  int columns_ = 0;
  std::unique_ptr<Booster> booster_;
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_BOOSTED_TREES_H_

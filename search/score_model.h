// A cost model that learns while tasks are searched: from what was measured of
// one task or of several, and anew before each batch.
#ifndef TILEWRIGHT_SEARCH_SCORE_MODEL_H_
#define TILEWRIGHT_SEARCH_SCORE_MODEL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "costmodel/cost_model.h"
#include "costmodel/feature_matrix.h"
#include "search/candidate.h"

namespace tilewright::search {

class ScoreModel {
 public:
  // Nothing is learned without a candidate that worked, nor anew before there
  // are more candidates by a share of `growth` than when it was learned last
  // (TVM's adaptive_training has 0.2).
  explicit ScoreModel(std::unique_ptr<costmodel::CostModel> model,
                      double growth = 0)
      : model_(std::move(model)), growth_(growth) {}

  // `ns` is infinity of a candidate that failed. REQUIRES: features of all
  // candidates have equally many columns, and at least one row.
  void Add(int task, const costmodel::FeatureMatrix& features, double ns);

  // Learns from all that was added, if that is enough.
  absl::Status Fit();
  bool fitted() const { return fitted_samples_ > 0; }
  // REQUIRES: fitted().
  absl::StatusOr<std::vector<costmodel::Prediction>> Predict(
      absl::Span<const Candidate* const> candidates) const;

 private:
  const std::unique_ptr<costmodel::CostModel> model_;
  const double growth_;
  costmodel::MeasuredCandidates measured_;
  std::vector<double> ns_;
  size_t fitted_samples_ = 0;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_SCORE_MODEL_H_

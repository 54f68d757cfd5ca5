// A cost model that learns while tasks are searched: from what was measured of
// one task or of several, and anew before each batch.
#ifndef TILEWRIGHT_SEARCH_SCORE_MODEL_H_
#define TILEWRIGHT_SEARCH_SCORE_MODEL_H_

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
  // Without a candidate that worked, nor before `least_samples`, nothing is
  // learned.
  explicit ScoreModel(std::unique_ptr<costmodel::CostModel> model,
                      int least_samples = 2)
      : model_(std::move(model)), least_samples_(least_samples) {}

  // `ns` is infinity of a candidate that failed. REQUIRES: features of all
  // candidates have equally many columns, and at least one row.
  void Add(int task, const costmodel::FeatureMatrix& features, double ns);

  // Learns what was added since, if there is anything.
  absl::Status Fit();
  bool fitted() const { return fitted_; }
  // REQUIRES: fitted().
  absl::StatusOr<std::vector<costmodel::Prediction>> Predict(
      absl::Span<const Candidate* const> candidates) const;

 private:
  const std::unique_ptr<costmodel::CostModel> model_;
  const int least_samples_;
  costmodel::MeasuredCandidates measured_;
  std::vector<double> ns_;
  bool is_new_ = false, fitted_ = false;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_SCORE_MODEL_H_

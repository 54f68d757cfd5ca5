// The interface of learned cost models: they learn from measured candidates and
// say which of many others are worth measuring. Boosted trees and random
// forests share it.
//
// The unit is a score, the higher the better: of measured times, usually the
// task's least time divided by the candidate's, and 0 for one that failed
// (RelativeThroughputs).
#ifndef TILEWRIGHT_COSTMODEL_COST_MODEL_H_
#define TILEWRIGHT_COSTMODEL_COST_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "costmodel/feature_matrix.h"

namespace tilewright::costmodel {

struct CandidateFeatures {
  FeatureMatrix rows;
  // Rows of each candidate, at least one, in order; empty: one each. Ansor has
  // one a store: a candidate's score is the sum of what its rows contribute.
  std::vector<int> row_counts = {};
  // The score expected of each candidate before anything was learned, by the
  // planner's cost model say; what is learned corrects it. Empty: 0.
  std::vector<double> priors = {};

  int size() const {
    return row_counts.empty() ? rows.rows()
                              : static_cast<int>(row_counts.size());
  }
  int row_count(int i) const { return row_counts.empty() ? 1 : row_counts[i]; }
  double prior(int i) const { return priors.empty() ? 0 : priors[i]; }
};

struct MeasuredCandidates {
  CandidateFeatures candidates;
  std::vector<double> scores;  // of each
  // The task of each, in any order: only scores of one task compare. Empty: one
  // task.
  std::vector<int> tasks = {};

  int task(int i) const { return tasks.empty() ? 0 : tasks[i]; }
};

struct Prediction {
  double score;
  std::optional<double> variance;  // of the score; of models that know it
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Forgets what it had learned, and learns this. InvalidArgument says what is
  // wrong with it (Check below); the model then stays as it was.
  virtual absl::Status Fit(const MeasuredCandidates& measured) = 0;
  // One a candidate. FailedPrecondition before the first Fit; InvalidArgument
  // if the features are not those it was fitted to.
  virtual absl::StatusOr<std::vector<Prediction>> Predict(
      const CandidateFeatures& candidates) const = 0;
  // As bytes, for the Load of its class. FailedPrecondition before the first
  // Fit.
  virtual absl::StatusOr<std::string> Save() const = 0;
};

// InvalidArgument names what has another number than the candidates or is not
// finite.
absl::Status Check(const CandidateFeatures& candidates);
// And that there are candidates at all.
absl::Status Check(const MeasuredCandidates& measured);

// The least time of each one's task divided by its own; 0 for times that are
// not finite: candidates that failed. REQUIRES: times are above 0; `tasks` is
// empty or has one each.
std::vector<double> RelativeThroughputs(absl::Span<const double> times,
                                        absl::Span<const int> tasks);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_COST_MODEL_H_

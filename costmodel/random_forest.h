// A random forest for regression (Breiman, "Random Forests", 2001): the mean of
// trees, each grown on samples drawn with replacement. It predicts, of any
// number, a mean and how uncertain that is.
//
//   RandomForestOptions options;
//   options.seed = 7;
//   absl::StatusOr<RandomForest> forest =
//       RandomForest::Train(features, targets, options);
//   absl::StatusOr<std::vector<ForestPrediction>> predictions =
//       forest->Predict(candidates);
//
// Equal data, options and seed give equal trees, whatever the number of
// threads. Thresholds lie between any two values of a feature with at most 256
// of them, else between its quantiles.
#ifndef TILEWRIGHT_COSTMODEL_RANDOM_FOREST_H_
#define TILEWRIGHT_COSTMODEL_RANDOM_FOREST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "costmodel/feature_matrix.h"
#include "costmodel/regression_tree.h"

namespace tilewright::costmodel {

struct RandomForestOptions {
  int trees = 100;
  // Features tried at a split, drawn anew for each of those that differ among
  // the node's samples; 0: all of them.
  int max_features = 0;
  int min_leaf = 1;   // samples; one that was drawn twice counts twice
  int max_depth = 0;  // 0: no limit
  uint64_t seed = 0;
  int threads = 1;  // that train
};

struct ForestPrediction {
  double mean;
  // The variance of the mean over the training sets that might have been: the
  // infinitesimal jackknife with its correction for few trees, V_IJ-U (Wager,
  // Hastie, Efron, "Confidence Intervals for Random Forests", JMLR 2014,
  // equations 5 and 7):
  //
  //   sum_i (1/B sum_b (N_bi - 1)(t_b - t))^2  -  n/B^2 sum_b (t_b - t)^2
  //
  // of B trees with predictions t_b and n samples that were drawn N_bi times.
  // Its expectation is right, so single values of few trees may be below 0.
  double jackknife_variance;
  // The variance of the trees' predictions around their mean (the uncertainty
  // of AdaTune).
  double tree_variance;
};

class RandomForest {
 public:
  // InvalidArgument: no samples, another number of targets, values that are not
  // finite, options out of range.
  static absl::StatusOr<RandomForest> Train(const FeatureMatrix& features,
                                            absl::Span<const double> targets,
                                            const RandomForestOptions& options);

  // One a row. InvalidArgument if the number of columns is another; values must
  // be finite.
  absl::StatusOr<std::vector<ForestPrediction>> Predict(
      const FeatureMatrix& features) const;
  // The same without variances.
  absl::StatusOr<std::vector<double>> PredictMeans(
      const FeatureMatrix& features) const;
  // The prediction of each tree. REQUIRES: row.size() == columns().
  std::vector<double> PredictTrees(absl::Span<const float> row) const;

  int columns() const { return columns_; }
  int trees() const { return static_cast<int>(trees_.size()); }

  // As bytes, and back. DataLoss or InvalidArgument says what is wrong with
  // them.
  std::string Save() const;
  static absl::StatusOr<RandomForest> Load(std::string_view bytes);

 private:
  RandomForest() = default;
  absl::Status CheckColumns(const FeatureMatrix& features) const;
  // Predictions of a tree stand together, a row apart from the next one's.
  std::vector<double> PredictAllTrees(const FeatureMatrix& features) const;

  int columns_ = 0;
  std::vector<RegressionTree> trees_;
  // Holds for trees a and b, at a * trees + b, the sum over samples i of (N_ai
  // - 1)(N_bi - 1). V_IJ is this quadratic form of the trees' deviations,
  // divided by the square of their number.
  std::vector<double> draw_products_;
  int64_t samples_ = 0;
};

// How often tree `tree` of a forest with this seed draws each sample.
std::vector<int> BootstrapDraws(uint64_t seed, int tree, int samples);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_RANDOM_FOREST_H_

#include "costmodel/random_forest.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "costmodel/binned_features.h"

namespace tilewright::costmodel {
namespace {

// The numbers of a tree: first its draws are taken from them, then its
// features.
Random RandomOfTree(uint64_t seed, int tree) {
  Random random(seed);
  // Neighbouring seeds must not share trees.
  return Random(random.Next() + static_cast<uint64_t>(tree));
}

std::vector<int> Draw(Random& random, int samples) {
  std::vector<int> draws(samples);
  for (int i = 0; i < samples; ++i) ++draws[random.Index(samples)];
  return draws;
}

absl::Status Check(const FeatureMatrix& features,
                   absl::Span<const double> targets,
                   const RandomForestOptions& options) {
  if (features.rows() == 0) {
    return absl::InvalidArgumentError("a forest needs at least one sample");
  }
  if (targets.size() != static_cast<size_t>(features.rows())) {
    return absl::InvalidArgumentError(
        absl::StrCat(features.rows(), " samples have ", targets.size(),
                     " targets: one each is needed"));
  }
  if (options.trees < 1 || options.max_features < 0 || options.min_leaf < 1 ||
      options.max_depth < 0 || options.threads < 1) {
    return absl::InvalidArgumentError(
        "a forest needs at least one tree, sample a leaf and thread, and no "
        "negative limit");
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(features.values().begin(), features.values().end(),
                   finite) ||
      !std::all_of(targets.begin(), targets.end(), finite)) {
    return absl::InvalidArgumentError(
        "features and targets of a forest must be finite");
  }
  return absl::OkStatus();
}

// Sums over samples of (N_ai - 1)(N_bi - 1), for all pairs of trees.
std::vector<double> DrawProducts(const std::vector<std::vector<int>>& draws) {
  const size_t trees = draws.size();
  std::vector<std::vector<float>> centred(trees);
  for (size_t tree = 0; tree < trees; ++tree) {
    for (const int count : draws[tree]) centred[tree].push_back(count - 1.0F);
  }
  std::vector<double> products(trees * trees);
  for (size_t a = 0; a < trees; ++a) {
    for (size_t b = a; b < trees; ++b) {
      // Four sums, so that one addition need not wait for the last.
      double sums[4] = {0, 0, 0, 0};
      for (size_t i = 0; i < centred[a].size(); ++i) {
        sums[i % 4] += static_cast<double>(centred[a][i]) * centred[b][i];
      }
      const double product = sums[0] + sums[1] + sums[2] + sums[3];
      products[a * trees + b] = products[b * trees + a] = product;
    }
  }
  return products;
}

}  // namespace

std::vector<int> BootstrapDraws(uint64_t seed, int tree, int samples) {
  Random random = RandomOfTree(seed, tree);
  return Draw(random, samples);
}

absl::StatusOr<RandomForest> RandomForest::Train(
    const FeatureMatrix& features, absl::Span<const double> targets,
    const RandomForestOptions& options) {
  TW_RETURN_IF_ERROR(Check(features, targets, options));
  const BinnedFeatures binned(features);
  const TreeOptions tree_options = {
      options.max_features > 0 ? options.max_features : features.columns(),
      options.min_leaf,
      options.max_depth > 0 ? options.max_depth
                            : std::numeric_limits<int>::max()};
  // Targets around 0 lose less to rounding where sums are subtracted.
  double middle = 0;
  for (const double target : targets) middle += target / targets.size();
  std::vector<double> centred(targets.begin(), targets.end());
  for (double& target : centred) target -= middle;

  RandomForest forest;
  forest.columns_ = features.columns();
  forest.samples_ = features.rows();
  forest.trees_.resize(options.trees);
  std::vector<std::vector<int>> draws(options.trees);
  ParallelFor(options.trees, options.threads, [&](int64_t i) {
    const int tree = static_cast<int>(i);
    Random random = RandomOfTree(options.seed, tree);
    draws[tree] = Draw(random, features.rows());
    RegressionTree& grown = forest.trees_[tree];
    grown = GrowTree(binned, centred, draws[tree], tree_options, random);
    for (double& value : grown.values) value += middle;
  });
  forest.draw_products_ = DrawProducts(draws);
  return forest;
}

absl::Status RandomForest::CheckColumns(const FeatureMatrix& features) const {
  if (features.columns() != columns_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the random forest was fitted to ", columns_, " features, not to ",
        features.columns(), ": fit it again"));
  }
  return absl::OkStatus();
}

std::vector<double> RandomForest::PredictTrees(
    absl::Span<const float> row) const {
  TW_CHECK_EQ(static_cast<int>(row.size()), columns_);
  std::vector<double> predictions;
  predictions.reserve(trees_.size());
  for (const RegressionTree& tree : trees_) {
    predictions.push_back(tree.Predict(row));
  }
  return predictions;
}

std::vector<double> RandomForest::PredictAllTrees(
    const FeatureMatrix& features) const {
  const int rows = features.rows();
  std::vector<double> all(trees_.size() * rows);
  // Tree by tree: a tree fits into the nearest cache, all of them do not.
  for (size_t tree = 0; tree < trees_.size(); ++tree) {
    trees_[tree].Predict(features,
                         absl::MakeSpan(all).subspan(tree * rows, rows));
  }
  return all;
}

absl::StatusOr<std::vector<double>> RandomForest::PredictMeans(
    const FeatureMatrix& features) const {
  TW_RETURN_IF_ERROR(CheckColumns(features));
  std::vector<double> means(features.rows()), of_tree(features.rows());
  for (const RegressionTree& tree : trees_) {
    tree.Predict(features, absl::MakeSpan(of_tree));
    for (int row = 0; row < features.rows(); ++row) means[row] += of_tree[row];
  }
  for (double& mean : means) mean /= trees();
  return means;
}

absl::StatusOr<std::vector<ForestPrediction>> RandomForest::Predict(
    const FeatureMatrix& features) const {
  TW_RETURN_IF_ERROR(CheckColumns(features));
  const int rows = features.rows();
  const size_t trees = trees_.size();
  const std::vector<double> all = PredictAllTrees(features);
  std::vector<ForestPrediction> predictions(rows);
  std::vector<double> deviations(trees);
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (size_t b = 0; b < trees; ++b) sum += all[b * rows + row];
    const double mean = sum / trees;
    double squares = 0;
    for (size_t b = 0; b < trees; ++b) {
      deviations[b] = all[b * rows + row] - mean;
      squares += deviations[b] * deviations[b];
    }
    // The form is symmetric: what lies beside the diagonal counts twice.
    double form = 0;
    for (size_t a = 0; a < trees; ++a) {
      const double* products = &draw_products_[a * trees];
      double sums[4] = {0, 0, 0, 0};
      for (size_t b = 0; b < a; ++b) sums[b % 4] += products[b] * deviations[b];
      form += deviations[a] * (2 * (sums[0] + sums[1] + sums[2] + sums[3]) +
                               products[a] * deviations[a]);
    }
    const double b_squared = static_cast<double>(trees) * trees;
    predictions[row] = {mean, (form - samples_ * squares) / b_squared,
                        squares / trees};
  }
  return predictions;
}

}  // namespace tilewright::costmodel

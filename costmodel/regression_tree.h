// A binary regression tree (Breiman et al., "Classification and Regression
// Trees", 1984): grown by splits that reduce the variance most, never pruned.
// Internal to costmodel.
#ifndef TILEWRIGHT_COSTMODEL_REGRESSION_TREE_H_
#define TILEWRIGHT_COSTMODEL_REGRESSION_TREE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"
#include "costmodel/binned_features.h"
#include "costmodel/feature_matrix.h"

namespace tilewright::costmodel {

struct TreeOptions {
  int max_features;  // tried at a split, of those that differ there
  int min_leaf;      // samples, one drawn twice counts twice
  int max_depth;     // splits from the root to a leaf
};

struct RegressionTree {
  struct Node {
    // Rows with row[feature] <= threshold go to node `left`, all others to
    // left + 1. A leaf leads to itself: its threshold is infinite.
    float threshold;
    int32_t feature;
    int32_t left;
  };
  static Node Leaf(size_t index) {
    return {std::numeric_limits<float>::infinity(), 0,
            static_cast<int32_t>(index)};
  }
  bool IsLeaf(size_t i) const { return nodes[i].left == static_cast<int>(i); }

  std::vector<Node> nodes;     // the root first, children after their parent
  std::vector<double> values;  // by node; of leaves, what they predict
  int depth = 0;               // splits on the longest path

  double Predict(absl::Span<const float> row) const;
  // Predicts all rows.
  void Predict(const FeatureMatrix& features,
               absl::Span<double> predictions) const;
};

// `draws`: how often each row was drawn, its weight. REQUIRES: one target and
// count a row, some count is not 0; options >= 1.
RegressionTree GrowTree(const BinnedFeatures& features,
                        absl::Span<const double> targets,
                        absl::Span<const int> draws, const TreeOptions& options,
                        Random random);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_REGRESSION_TREE_H_

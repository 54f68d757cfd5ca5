#include "costmodel/regression_tree.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"
#include "costmodel/binned_features.h"
#include "costmodel/feature_matrix.h"
#include "gtest/gtest.h"

namespace tilewright::costmodel {
namespace {

constexpr TreeOptions kWhole = {std::numeric_limits<int>::max(), 1,
                                std::numeric_limits<int>::max()};

struct Data {
  FeatureMatrix features;
  std::vector<double> targets;
  std::vector<int> draws;
};

Data Draw(int rows, int columns, int values, uint64_t seed) {
  Random random(seed);
  Data data{FeatureMatrix(columns), {}, {}};
  for (int i = 0; i < rows; ++i) {
    std::vector<float> row;
    for (int c = 0; c < columns; ++c) {
      row.push_back(static_cast<float>(random.UniformInt(0, values - 1)));
    }
    data.features.AddRow(row);
    data.targets.push_back(random.Normal() + row[0]);
    data.draws.push_back(static_cast<int>(random.UniformInt(0, 2)));
  }
  data.draws[0] = 1;
  return data;
}

RegressionTree Grow(const Data& data, const TreeOptions& options) {
  return GrowTree(BinnedFeatures(data.features), data.targets, data.draws,
                  options, Random(1));
}

// The least sum of squared errors that one split leaves, by trying every row's
// value of every feature.
double LeastErrorOfOneSplit(const Data& data, int min_leaf) {
  double least = std::numeric_limits<double>::infinity();
  for (int c = 0; c < data.features.columns(); ++c) {
    for (int cut = 0; cut < data.features.rows(); ++cut) {
      double n[2] = {}, sum[2] = {}, squares[2] = {};
      for (int r = 0; r < data.features.rows(); ++r) {
        const int side =
            data.features.at(r, c) > data.features.at(cut, c) ? 1 : 0;
        n[side] += data.draws[r];
        sum[side] += data.draws[r] * data.targets[r];
        squares[side] += data.draws[r] * data.targets[r] * data.targets[r];
      }
      if (std::min(n[0], n[1]) < min_leaf) continue;
      least = std::min(least, squares[0] - sum[0] * sum[0] / n[0] + squares[1] -
                                  sum[1] * sum[1] / n[1]);
    }
  }
  return least;
}

double ErrorOf(const RegressionTree& tree, const Data& data) {
  double error = 0;
  for (int r = 0; r < data.features.rows(); ++r) {
    const double off = data.targets[r] - tree.Predict(data.features.row(r));
    error += data.draws[r] * off * off;
  }
  return error;
}

TEST(RegressionTreeTest, ASplitLeavesTheLeastErrorThereIs) {
  for (const int rows : {2, 5, 40, 300}) {
    // Few values are counted in bins, many are sorted.
    for (const int values : {2, 7, 200}) {
      for (const int min_leaf : {1, 4}) {
        const Data data = Draw(rows, 3, values, rows * 31 + values);
        const double least = LeastErrorOfOneSplit(data, min_leaf);
        const RegressionTree tree = Grow(data, {3, min_leaf, 1});
        if (tree.nodes.size() == 1) continue;
        EXPECT_NEAR(ErrorOf(tree, data), least, 1e-9 * (1 + least));
      }
    }
  }
}

TEST(RegressionTreeTest, AWholeTreeRepeatsWhatItWasGrownOn) {
  const Data data = Draw(200, 4, 1000, 3);
  EXPECT_NEAR(ErrorOf(Grow(data, kWhole), data), 0, 1e-18);
}

TEST(RegressionTreeTest, ManyRowsArePredictedAsOneByOne) {
  for (const int rows : {1, 7, 8, 50}) {
    const Data data = Draw(rows, 3, 20, rows);
    const RegressionTree tree = Grow(data, kWhole);
    std::vector<double> together(rows);
    tree.Predict(data.features, absl::MakeSpan(together));
    for (int r = 0; r < rows; ++r) {
      EXPECT_EQ(together[r], tree.Predict(data.features.row(r)));
    }
  }
}

TEST(RegressionTreeTest, NothingSplitsEqualTargetsOrEqualFeatures) {
  Data equal_targets = Draw(20, 2, 5, 4);
  equal_targets.targets.assign(20, 2.5);
  EXPECT_EQ(Grow(equal_targets, kWhole).nodes.size(), 1U);
  Data equal_features = Draw(20, 2, 1, 5);
  EXPECT_EQ(Grow(equal_features, kWhole).nodes.size(), 1U);
}

TEST(RegressionTreeTest, DepthAndLeavesAreLimited) {
  const Data data = Draw(300, 4, 50, 6);
  EXPECT_LE(Grow(data, {4, 1, 3}).nodes.size(), 15U);
  const RegressionTree tree = Grow(data, {4, 20, 100});
  std::vector<int> samples(tree.nodes.size());
  for (int r = 0; r < data.features.rows(); ++r) {
    size_t i = 0;
    while (!tree.IsLeaf(i)) {
      const auto& node = tree.nodes[i];
      i = node.left + (data.features.at(r, node.feature) > node.threshold);
    }
    samples[i] += data.draws[r];
  }
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.IsLeaf(i)) EXPECT_GE(samples[i], 20);
  }
}

TEST(BinnedFeaturesTest, FewValuesHaveABinEachAndManyHaveQuantiles) {
  FeatureMatrix features(2);
  for (int i = 0; i < 1000; ++i) {
    const float row[] = {static_cast<float>(i % 3), static_cast<float>(i)};
    features.AddRow(row);
  }
  const BinnedFeatures binned(features);
  EXPECT_EQ(binned.bins(0).size(), 3U);
  EXPECT_EQ(binned.bins(1).size(), 256U);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(binned.column(0)[i], i % 3);
    const BinnedFeatures::Bin& bin = binned.bins(1)[binned.column(1)[i]];
    EXPECT_LE(bin.least, i);
    EXPECT_GE(bin.most, i);
    EXPECT_LE(bin.most - bin.least, 4);
  }
}

}  // namespace
}  // namespace tilewright::costmodel

#include "costmodel/regression_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tilewright::costmodel {
namespace {

// The best threshold between two values of one feature in a node.
struct Split {
  // Sum over both sides of (sum of targets)^2 / samples: the larger, the
  // smaller is the variance that remains.
  double score = -std::numeric_limits<double>::infinity();
  int feature = -1;
  int left_bin = 0;   // the largest on the left
  int right_bin = 0;  // the smallest on the right
};

struct Sums {
  int64_t samples = 0;
  double targets = 0;
};

class Grower {
 public:
  Grower(const BinnedFeatures& features, absl::Span<const double> targets,
         absl::Span<const int> draws, const TreeOptions& options, Random random)
      : features_(features),
        targets_(targets),
        draws_(draws),
        options_(options),
        random_(random) {
    for (int row = 0; row < features.rows(); ++row) {
      if (draws[row] > 0) rows_.push_back(row);
    }
    TW_CHECK(!rows_.empty());
  }

  RegressionTree Grow();

 private:
  // A node whose rows are rows_[begin, end).
  struct Pending {
    size_t node, begin, end;
    int depth;
    std::vector<int> candidates;  // features that may differ there
  };

  Sums SumsOf(const Pending& pending) const;
  bool IsPure(const Pending& pending) const;
  Split BestSplit(Pending& pending, const Sums& all);
  // False if the feature is the same in all rows.
  bool TryFeature(const Pending& pending, int feature, const Sums& all,
                  Split& best);
  bool TryFewRows(const Pending& pending, int feature, const Sums& all,
                  Split& best);
  void Consider(const Sums& left, const Sums& all, int feature, int left_bin,
                int right_bin, Split& best) const;
  float Threshold(const Split& split) const;

  const BinnedFeatures& features_;
  const absl::Span<const double> targets_;
  const absl::Span<const int> draws_;
  const TreeOptions& options_;
  Random random_;
  std::vector<int> rows_;
  std::array<Sums, BinnedFeatures::kMaxBins> histogram_;
  std::vector<std::pair<uint8_t, int>> few_;  // code, row
  RegressionTree tree_;
};

Sums Grower::SumsOf(const Pending& pending) const {
  Sums sums;
  for (size_t i = pending.begin; i < pending.end; ++i) {
    sums.samples += draws_[rows_[i]];
    sums.targets += draws_[rows_[i]] * targets_[rows_[i]];
  }
  return sums;
}

bool Grower::IsPure(const Pending& pending) const {
  for (size_t i = pending.begin + 1; i < pending.end; ++i) {
    if (targets_[rows_[i]] != targets_[rows_[pending.begin]]) return false;
  }
  return true;
}

void Grower::Consider(const Sums& left, const Sums& all, int feature,
                      int left_bin, int right_bin, Split& best) const {
  const int64_t right_samples = all.samples - left.samples;
  if (std::min(left.samples, right_samples) < options_.min_leaf) return;
  const double right = all.targets - left.targets;
  const double score = left.targets * left.targets / left.samples +
                       right * right / right_samples;
  if (score > best.score) best = {score, feature, left_bin, right_bin};
}

bool Grower::TryFewRows(const Pending& pending, int feature, const Sums& all,
                        Split& best) {
  const uint8_t* codes = features_.column(feature);
  few_.clear();
  for (size_t i = pending.begin; i < pending.end; ++i) {
    few_.emplace_back(codes[rows_[i]], rows_[i]);
  }
  std::sort(few_.begin(), few_.end());
  if (few_.front().first == few_.back().first) return false;
  Sums left;
  for (size_t i = 0; i + 1 < few_.size(); ++i) {
    const auto [code, row] = few_[i];
    left.samples += draws_[row];
    left.targets += draws_[row] * targets_[row];
    if (code == few_[i + 1].first) continue;
    Consider(left, all, feature, code, few_[i + 1].first, best);
  }
  return true;
}

bool Grower::TryFeature(const Pending& pending, int feature, const Sums& all,
                        Split& best) {
  const int bins = static_cast<int>(features_.bins(feature).size());
  const size_t rows = pending.end - pending.begin;
  // Sorting few rows takes less time than going through many bins.
  if (rows * 8 < static_cast<size_t>(bins)) {
    return TryFewRows(pending, feature, all, best);
  }
  std::fill_n(histogram_.begin(), bins, Sums{});
  const uint8_t* codes = features_.column(feature);
  for (size_t i = pending.begin; i < pending.end; ++i) {
    const int row = rows_[i];
    Sums& sums = histogram_[codes[row]];
    sums.samples += draws_[row];
    sums.targets += draws_[row] * targets_[row];
  }
  Sums left;
  int left_bin = -1;
  for (int bin = 0; bin < bins; ++bin) {
    if (histogram_[bin].samples == 0) continue;
    if (left_bin >= 0) Consider(left, all, feature, left_bin, bin, best);
    if (histogram_[bin].samples == all.samples) return false;
    left.samples += histogram_[bin].samples;
    left.targets += histogram_[bin].targets;
    left_bin = bin;
  }
  return true;
}

Split Grower::BestSplit(Pending& pending, const Sums& all) {
  Split best;
  std::vector<int>& candidates = pending.candidates;
  size_t untried = candidates.size();
  for (int tried = 0; untried > 0 && tried < options_.max_features;) {
    std::swap(candidates[random_.Index(untried)], candidates[untried - 1]);
    --untried;
    if (TryFeature(pending, candidates[untried], all, best)) {
      ++tried;
    } else {
      candidates[untried] = candidates.back();
      candidates.pop_back();
    }
  }
  return best;
}

float Grower::Threshold(const Split& split) const {
  const auto& bins = features_.bins(split.feature);
  const float below = bins[split.left_bin].most;
  const float above = bins[split.right_bin].least;
  const float middle = below / 2 + above / 2;
  return middle >= below && middle < above ? middle : below;
}

RegressionTree Grower::Grow() {
  std::vector<Pending> stack;
  tree_.nodes = {RegressionTree::Leaf(0)};
  tree_.values.resize(1);
  std::vector<int> all_features(features_.columns());
  std::iota(all_features.begin(), all_features.end(), 0);
  stack.push_back({0, 0, rows_.size(), 0, std::move(all_features)});
  while (!stack.empty()) {
    Pending pending = std::move(stack.back());
    stack.pop_back();
    const Sums all = SumsOf(pending);
    tree_.values[pending.node] = all.targets / all.samples;
    if (pending.depth >= options_.max_depth ||
        all.samples < 2 * int64_t{options_.min_leaf} || IsPure(pending)) {
      continue;
    }
    const Split split = BestSplit(pending, all);
    if (split.feature < 0) continue;
    const uint8_t* codes = features_.column(split.feature);
    const size_t middle =
        std::stable_partition(
            rows_.begin() + pending.begin, rows_.begin() + pending.end,
            [&](int row) { return codes[row] <= split.left_bin; }) -
        rows_.begin();
    const size_t left = tree_.nodes.size();
    tree_.nodes[pending.node] = {Threshold(split), split.feature,
                                 static_cast<int32_t>(left)};
    tree_.nodes.push_back(RegressionTree::Leaf(left));
    tree_.nodes.push_back(RegressionTree::Leaf(left + 1));
    tree_.values.resize(left + 2);
    tree_.depth = std::max(tree_.depth, pending.depth + 1);
    stack.push_back(
        {left + 1, middle, pending.end, pending.depth + 1, pending.candidates});
    stack.push_back({left, pending.begin, middle, pending.depth + 1,
                     std::move(pending.candidates)});
  }
  return std::move(tree_);
}

}  // namespace

double RegressionTree::Predict(absl::Span<const float> row) const {
  size_t i = 0;
  while (!IsLeaf(i)) {
    i = nodes[i].left + (row[nodes[i].feature] > nodes[i].threshold ? 1 : 0);
  }
  return values[i];
}

void RegressionTree::Predict(const FeatureMatrix& features,
                             absl::Span<double> predictions) const {
  // Several rows go down together, each step of one waiting for memory while
  // the others move; who has reached a leaf stays there.
  constexpr int kTogether = 8;
  int row = 0;
  for (; row + kTogether <= features.rows(); row += kTogether) {
    const float* rows[kTogether];
    int32_t at[kTogether] = {};
    for (int k = 0; k < kTogether; ++k) rows[k] = features.row(row + k).data();
    for (int step = 0; step < depth; ++step) {
      for (int k = 0; k < kTogether; ++k) {
        const Node& node = nodes[at[k]];
        at[k] = node.left + (rows[k][node.feature] > node.threshold ? 1 : 0);
      }
    }
    for (int k = 0; k < kTogether; ++k) predictions[row + k] = values[at[k]];
  }
  for (; row < features.rows(); ++row) {
    predictions[row] = Predict(features.row(row));
  }
}

RegressionTree GrowTree(const BinnedFeatures& features,
                        absl::Span<const double> targets,
                        absl::Span<const int> draws, const TreeOptions& options,
                        Random random) {
  return Grower(features, targets, draws, options, random).Grow();
}

}  // namespace tilewright::costmodel

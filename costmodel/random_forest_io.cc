// Forests as bytes, and back.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "costmodel/random_forest.h"
#include "costmodel/saved_model.h"
#include "costmodel/saved_model.pb.h"

namespace tilewright::costmodel {
namespace {

constexpr std::string_view kKind = "random forest";
constexpr int kVersion = 1;

RegressionTreeProto ToProto(const RegressionTree& tree) {
  RegressionTreeProto proto;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const RegressionTree::Node& node = tree.nodes[i];
    proto.add_feature(tree.IsLeaf(i) ? -1 : node.feature);
    proto.add_threshold(tree.IsLeaf(i) ? 0 : node.threshold);
    proto.add_left(tree.IsLeaf(i) ? 0 : node.left);
  }
  proto.mutable_value()->Add(tree.values.begin(), tree.values.end());
  return proto;
}

// Children come after their node, so that every path ends.
absl::StatusOr<RegressionTree> FromProto(const RegressionTreeProto& proto,
                                         int columns) {
  const int size = proto.value_size();
  if (size == 0 || proto.feature_size() != size ||
      proto.threshold_size() != size || proto.left_size() != size) {
    return absl::DataLossError("a tree's fields have different lengths");
  }
  RegressionTree tree;
  std::vector<int> depths(size);
  for (int i = 0; i < size; ++i) {
    const RegressionTree::Node node = {proto.threshold(i), proto.feature(i),
                                       proto.left(i)};
    const bool is_leaf = node.feature == -1;
    const bool splits = node.feature >= 0 && node.feature < columns &&
                        std::isfinite(node.threshold) && node.left > i &&
                        node.left < size - 1;
    if ((!is_leaf && !splits) || !std::isfinite(proto.value(i))) {
      return absl::DataLossError(
          absl::StrCat("node ", i, " of a tree is none"));
    }
    tree.nodes.push_back(is_leaf ? RegressionTree::Leaf(i) : node);
    if (is_leaf) continue;
    for (const int child : {node.left, node.left + 1}) {
      depths[child] = std::max(depths[child], depths[i] + 1);
      tree.depth = std::max(tree.depth, depths[child]);
    }
  }
  tree.values.assign(proto.value().begin(), proto.value().end());
  return tree;
}

}  // namespace

std::string RandomForest::Save() const {
  RandomForestProto proto;
  proto.set_columns(columns_);
  proto.set_samples(samples_);
  for (const RegressionTree& tree : trees_) *proto.add_trees() = ToProto(tree);
  const size_t trees = trees_.size();
  for (size_t a = 0; a < trees; ++a) {
    for (size_t b = a; b < trees; ++b) {
      proto.add_draw_products(
          static_cast<int64_t>(draw_products_[a * trees + b]));
    }
  }
  return SaveModel(kKind, kVersion, proto);
}

absl::StatusOr<RandomForest> RandomForest::Load(std::string_view bytes) {
  RandomForestProto proto;
  TW_RETURN_IF_ERROR(LoadModel(bytes, kKind, kVersion, proto));
  const size_t trees = proto.trees_size();
  if (proto.columns() < 0 || trees == 0 || proto.samples() < 1 ||
      static_cast<size_t>(proto.draw_products_size()) !=
          trees * (trees + 1) / 2) {
    return absl::DataLossError(
        "the saved random forest lacks trees or draws: train it again");
  }
  RandomForest forest;
  forest.columns_ = proto.columns();
  forest.samples_ = proto.samples();
  for (const RegressionTreeProto& tree : proto.trees()) {
    TW_ASSIGN_OR_RETURN(RegressionTree read, FromProto(tree, forest.columns_));
    forest.trees_.push_back(std::move(read));
  }
  forest.draw_products_.resize(trees * trees);
  int next = 0;
  for (size_t a = 0; a < trees; ++a) {
    for (size_t b = a; b < trees; ++b) {
      const auto product = static_cast<double>(proto.draw_products(next++));
      forest.draw_products_[a * trees + b] = product;
      forest.draw_products_[b * trees + a] = product;
    }
  }
  return forest;
}

}  // namespace tilewright::costmodel

#include "costmodel/binned_features.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilewright::costmodel {
namespace {

int CountDistinct(const std::vector<std::pair<float, int>>& ascending) {
  int distinct = ascending.empty() ? 0 : 1;
  for (size_t i = 1; i < ascending.size(); ++i) {
    distinct += ascending[i].first != ascending[i - 1].first ? 1 : 0;
  }
  return distinct;
}

}  // namespace

BinnedFeatures::BinnedFeatures(const FeatureMatrix& features)
    : rows_(features.rows()),
      codes_(static_cast<size_t>(features.rows()) * features.columns()),
      bins_(features.columns()) {
  std::vector<std::pair<float, int>> ascending(rows_);
  for (int c = 0; c < columns(); ++c) {
    for (int r = 0; r < rows_; ++r) ascending[r] = {features.at(r, c), r};
    std::sort(ascending.begin(), ascending.end());
    const bool one_bin_a_value = CountDistinct(ascending) <= kMaxBins;
    std::vector<Bin>& bins = bins_[c];
    uint8_t* codes = codes_.data() + static_cast<size_t>(c) * rows_;
    int64_t quantile = -1;
    for (int i = 0; i < rows_; ++i) {
      const auto [value, row] = ascending[i];
      const bool repeats = i > 0 && value == ascending[i - 1].first;
      const int64_t its_quantile = int64_t{i} * kMaxBins / rows_;
      if (!repeats && (one_bin_a_value || its_quantile != quantile)) {
        bins.push_back({value, value});
        quantile = its_quantile;
      }
      bins.back().most = value;
      codes[row] = static_cast<uint8_t>(bins.size() - 1);
    }
  }
}

}  // namespace tilewright::costmodel

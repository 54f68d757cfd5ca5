// Features as small codes, of which trees are grown: a column's values in
// ascending order, equal values in one bin, at most 256 bins. A column with
// more values is cut at its quantiles. Internal to costmodel.
#ifndef TILEWRIGHT_COSTMODEL_BINNED_FEATURES_H_
#define TILEWRIGHT_COSTMODEL_BINNED_FEATURES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/feature_matrix.h"

namespace tilewright::costmodel {

class BinnedFeatures {
 public:
  static constexpr int kMaxBins = 256;

  // REQUIRES: all values are finite.
  explicit BinnedFeatures(const FeatureMatrix& features);

  int rows() const { return rows_; }
  int columns() const { return static_cast<int>(bins_.size()); }
  // The code of each row.
  const uint8_t* column(int column) const {
    return codes_.data() + static_cast<size_t>(column) * rows_;
  }

  struct Bin {
    float least, most;  // of the values in it
  };
  // Ascending; none is empty.
  const std::vector<Bin>& bins(int column) const { return bins_[column]; }

 private:
  int rows_;
  std::vector<uint8_t> codes_;  // column by column
  std::vector<std::vector<Bin>> bins_;
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_BINNED_FEATURES_H_

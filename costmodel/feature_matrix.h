// Rows of features, one row a sample: what cost models learn from.
#ifndef TILEWRIGHT_COSTMODEL_FEATURE_MATRIX_H_
#define TILEWRIGHT_COSTMODEL_FEATURE_MATRIX_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"

namespace tilewright::costmodel {

class FeatureMatrix {
 public:
  FeatureMatrix() = default;
  // REQUIRES: columns >= 0.
  explicit FeatureMatrix(int columns) : columns_(columns) {
    TW_CHECK_GE(columns, 0);
  }

  // REQUIRES: row.size() == columns().
  void AddRow(absl::Span<const float> row) {
    TW_CHECK_EQ(static_cast<int>(row.size()), columns_);
    values_.insert(values_.end(), row.begin(), row.end());
    ++rows_;
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  absl::Span<const float> row(int i) const {
    return absl::MakeConstSpan(values_).subspan(
        static_cast<size_t>(i) * columns_, columns_);
  }
  float at(int row, int column) const {
    return values_[static_cast<size_t>(row) * columns_ + column];
  }
  // All rows, one after another.
  absl::Span<const float> values() const { return values_; }

 private:
  int columns_ = 0;
  int rows_ = 0;
  std::vector<float> values_;
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURE_MATRIX_H_

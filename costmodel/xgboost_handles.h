// xgboost's C interface with owners and statuses. Internal to costmodel.
#ifndef TILEWRIGHT_COSTMODEL_XGBOOST_HANDLES_H_
#define TILEWRIGHT_COSTMODEL_XGBOOST_HANDLES_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "costmodel/feature_matrix.h"

namespace tilewright::costmodel {

// Rows of features, each with a margin that predictions begin with.
class XgboostMatrix {
 public:
  // REQUIRES: one margin a row; there are rows and columns.
  static absl::StatusOr<XgboostMatrix> Create(const FeatureMatrix& features,
                                              const std::vector<float>& margins,
                                              int threads);
  void* get() const { return handle_.get(); }

 private:
  std::shared_ptr<void> handle_;
};

class XgboostModel {
 public:
  // Without trees. InvalidArgument if xgboost does not take a parameter.
  static absl::StatusOr<XgboostModel> Create(
      const XgboostMatrix& training,
      const std::vector<std::pair<std::string, std::string>>& parameters);
  // Reads Save's bytes. DataLoss if they are none.
  static absl::StatusOr<XgboostModel> Load(std::string_view bytes);

  // Adds a tree for these derivatives, one a row of `training`.
  absl::Status Boost(const XgboostMatrix& training, std::vector<float> first,
                     std::vector<float> second);
  // The margin plus what all trees say, of each row.
  absl::StatusOr<std::vector<double>> Predict(const XgboostMatrix& rows) const;
  // The first `rounds` trees alone.
  absl::StatusOr<XgboostModel> First(int rounds) const;
  int rounds() const;
  absl::StatusOr<std::string> Save() const;

 private:
  std::shared_ptr<void> handle_;
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_XGBOOST_HANDLES_H_

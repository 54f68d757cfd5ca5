// A random forest as a cost model: slower to fit and less exact than boosted
// trees, but it says how uncertain each prediction is, for expected improvement
// and contextual annealing (AdaTune).
//
// A candidate's rows become one: each column's values are added as the numbers
// whose log2(x + 1) they are. What it learns is what scores have beyond priors.
#ifndef TILEWRIGHT_COSTMODEL_FOREST_COST_MODEL_H_
#define TILEWRIGHT_COSTMODEL_FOREST_COST_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "costmodel/cost_model.h"
#include "costmodel/random_forest.h"

namespace tilewright::costmodel {

struct ForestCostModelOptions {
  // Which variance predictions have (random_forest.h); one below 0 becomes 0.
  // AdaTune's is that of the trees.
  enum class Variance : uint8_t { kTrees, kJackknife };
  Variance variance = Variance::kTrees;
  RandomForestOptions forest;
};

class ForestCostModel : public CostModel {
 public:
  explicit ForestCostModel(const ForestCostModelOptions& options)
      : options_(options) {}

  absl::Status Fit(const MeasuredCandidates& measured) override;
  absl::StatusOr<std::vector<Prediction>> Predict(
      const CandidateFeatures& candidates) const override;
  absl::StatusOr<std::string> Save() const override;
  static absl::StatusOr<std::unique_ptr<ForestCostModel>> Load(
      std::string_view bytes, const ForestCostModelOptions& options);

 private:
  const ForestCostModelOptions options_;
  std::optional<RandomForest> forest_;
};

// One row a candidate, as above.
FeatureMatrix AddRows(const CandidateFeatures& candidates);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FOREST_COST_MODEL_H_

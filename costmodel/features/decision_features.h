// AutoTVM's "knob" features: the table of decisions itself as numbers (Chen et
// al., "Learning to Optimize Tensor Programs", section 4). Of one fixed length
// for a task, and without meaning outside of it.
//
//   DecisionFeatures encode(tables_of_the_task);
//   FeatureMatrix rows(encode.columns());
//   rows.AddRow(encode.Row(table));
#ifndef TILEWRIGHT_COSTMODEL_FEATURES_DECISION_FEATURES_H_
#define TILEWRIGHT_COSTMODEL_FEATURES_DECISION_FEATURES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/decision/table.h"

namespace tilewright::costmodel {

class DecisionFeatures {
 public:
  // Columns for all decisions that these tables make: dependent decisions stand
  // in some alone. A one-of has a column an option, 0 or 1; every number of
  // other values one, log2(x + 1) of it; places of permutations are as they
  // are. One more column says whether the decision was made.
  explicit DecisionFeatures(absl::Span<const DecisionTable> tables);

  int columns() const { return static_cast<int>(names_.size()); }
  // "tile.0", "edges=rows", "pack?", ...
  const std::vector<std::string>& names() const { return names_; }
  // Decisions and options that no table of the constructor made have no column.
  std::vector<float> Row(const DecisionTable& table) const;

 private:
  std::map<std::string, int> columns_;
  std::vector<std::string> names_;
};

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_FEATURES_DECISION_FEATURES_H_

#include "costmodel/features/decision_features.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tilewright::costmodel {
namespace {

// Calls `fn` on the columns of a decision and their values.
void ForEachColumn(const Decision& decision,
                   const std::function<void(const std::string&, float)>& fn) {
  fn(decision.name + "?", 1);
  const Space::Kind kind = decision.space.kind();
  if (kind == Space::Kind::kOneOf) {
    fn(absl::StrCat(decision.name, "=",
                    decision.space.options()[decision.value[0]]),
       1);
    return;
  }
  for (size_t i = 0; i < decision.value.size(); ++i) {
    const auto value = static_cast<double>(decision.value[i]);
    fn(absl::StrCat(decision.name, ".", i),
       static_cast<float>(kind == Space::Kind::kPermutation || value < 0
                              ? value
                              : std::log2(value + 1)));
  }
}

}  // namespace

DecisionFeatures::DecisionFeatures(absl::Span<const DecisionTable> tables) {
  for (const DecisionTable& table : tables) {
    for (const Decision& decision : table) {
      ForEachColumn(decision, [&](const std::string& name, float) {
        if (columns_.emplace(name, columns()).second) names_.push_back(name);
      });
    }
  }
}

std::vector<float> DecisionFeatures::Row(const DecisionTable& table) const {
  std::vector<float> row(columns());
  for (const Decision& decision : table) {
    ForEachColumn(decision, [&](const std::string& name, float value) {
      const auto column = columns_.find(name);
      if (column != columns_.end()) row[column->second] = value;
    });
  }
  return row;
}

}  // namespace tilewright::costmodel

#include "sketch/templates/knob_split.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/check.h"

namespace tilewright::sketch {
namespace {

using Policy = KnobSplit::Policy;

std::vector<int64_t> Candidates(int64_t extent, Policy policy) {
  std::vector<int64_t> candidates;
  for (int64_t part = 1; part <= extent; ++part) {
    const bool divides = extent % part == 0;
    const bool power = (part & (part - 1)) == 0;
    if ((policy != Policy::kPower2 && divides) ||
        (policy != Policy::kFactors && power))
      candidates.push_back(part);
  }
  return candidates;
}

// One candidate for each part but the outermost.
Space MakeSpace(int64_t extent, int parts, Policy policy, int64_t most,
                const std::vector<int64_t>& candidates) {
  TW_CHECK_GE(parts, 2);
  std::vector<std::string> names;
  for (const int64_t candidate : candidates)
    names.push_back(absl::StrCat(candidate));
  std::vector<Space::Part> choices;
  for (int i = 1; i < parts; ++i)
    choices.push_back({absl::StrCat("part", i), Space::OneOf(names)});
  const auto admits = [=](const DecisionValue& value) {
    int64_t product = 1;
    for (const int64_t index : value) {
      if (product > extent) return false;
      product *= candidates[index];
    }
    return product <= extent &&
           (policy != Policy::kFactors || extent % product == 0) &&
           (most == 0 || candidates[value.back()] <= most);
  };
  return Space::Composite(std::move(choices), admits);
}

}  // namespace

KnobSplit::KnobSplit(int64_t extent, int parts, Policy policy, int64_t most)
    : extent_(extent),
      candidates_(Candidates(extent, policy)),
      space_(MakeSpace(extent, parts, policy, most, candidates_)) {}

Factors KnobSplit::Parts(const DecisionValue& value) const {
  Factors parts = {1};
  int64_t inner = 1;
  for (const int64_t index : value) {
    parts.push_back(candidates_[index]);
    inner *= candidates_[index];
  }
  parts[0] = CeilDiv(extent_, inner);
  return parts;
}

DecisionValue KnobSplit::Fallback(const Factors& wanted) const {
  DecisionValue value(wanted.size(), 0);
  int64_t rest = extent_;
  for (size_t i = wanted.size(); i-- > 0;) {
    int64_t part = std::min(wanted[i], rest);
    while (rest % part != 0 ||
           !std::binary_search(candidates_.begin(), candidates_.end(), part))
      --part;
    value[i] = std::lower_bound(candidates_.begin(), candidates_.end(), part) -
               candidates_.begin();
    rest /= part;
  }
  return value;
}

Factors KnobSplit::Decide(Decider& decider, const std::string& name,
                          const Factors& wanted, Bits bits) const {
  return Parts(decider.Decide(
      name, space_, [&] { return space_.Nearest(Fallback(wanted)); }, bits));
}

}  // namespace tilewright::sketch

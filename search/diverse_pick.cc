#include "search/diverse_pick.h"

#include <set>
#include <string>
#include <utility>

#include "base/check.h"

namespace tilewright::search {
namespace {

// Name and value.
using Covered = std::set<std::pair<std::string, DecisionValue>>;

int NewlyCovered(const Candidate& candidate, const Covered& covered) {
  int count = 0;
  for (const Decision& decision : candidate.table)
    count += covered.count({decision.name, decision.value}) == 0 ? 1 : 0;
  return count;
}

void Cover(const Candidate& candidate, Covered& covered) {
  for (const Decision& decision : candidate.table)
    covered.emplace(decision.name, decision.value);
}

}  // namespace

double Diversity(absl::Span<const Candidate> candidates,
                 absl::Span<const double> scores, double coverage_weight,
                 absl::Span<const size_t> picked) {
  Covered covered;
  double sum = 0;
  for (const size_t i : picked) {
    sum += scores[i];
    Cover(candidates[i], covered);
  }
  return sum + coverage_weight * static_cast<double>(covered.size());
}

std::vector<size_t> PickDiverse(absl::Span<const Candidate> candidates,
                                absl::Span<const double> scores, int count,
                                double coverage_weight) {
  TW_CHECK_EQ(candidates.size(), scores.size());
  std::vector<size_t> picked;
  std::vector<bool> is_picked(candidates.size());
  Covered covered;
  while (static_cast<int>(picked.size()) < count &&
         picked.size() < candidates.size()) {
    size_t best = candidates.size();
    double best_gain = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (is_picked[i]) continue;
      const double gain =
          scores[i] + coverage_weight * NewlyCovered(candidates[i], covered);
      if (best < candidates.size() && !(gain > best_gain)) continue;
      best = i;
      best_gain = gain;
    }
    is_picked[best] = true;
    picked.push_back(best);
    Cover(candidates[best], covered);
  }
  return picked;
}

}  // namespace tilewright::search

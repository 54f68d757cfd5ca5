#include "search/annealing_chains.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/status_macros.h"

namespace tilewright::search {
namespace {

std::vector<const Candidate*> PointersTo(
    const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> pointers;
  for (const Candidate& candidate : candidates) pointers.push_back(&candidate);
  return pointers;
}

// The best of what was met, at most `count`.
class BestMet {
 public:
  BestMet(int count, const Traces& visited)
      : count_(static_cast<size_t>(count)), known_(visited) {}

  // Whether it is one of them now.
  bool Offer(const Candidate& candidate, double score) {
    if (!(score >= 0) || count_ == 0) return false;
    if (met_.size() == count_ && !(score > met_.back().score)) return false;
    if (!known_.insert(candidate.trace).second) return false;
    const auto place = std::upper_bound(
        met_.begin(), met_.end(), score,
        [](double s, const AnnealingChains::Met& m) { return s > m.score; });
    met_.insert(place, {candidate, score});
    if (met_.size() > count_) {
      known_.erase(met_.back().candidate.trace);
      met_.pop_back();
    }
    return true;
  }
  std::vector<AnnealingChains::Met> Take() && { return std::move(met_); }

 private:
  const size_t count_;
  Traces known_;
  std::vector<AnnealingChains::Met> met_;  // best first
};

}  // namespace

AnnealingChainsOptions AnnealingChainsOptions::AutoTvm() {
  AnnealingChainsOptions options;
  options.chains = 128;
  options.steps = 500;
  options.patience = 50;
  options.first_temperature = 1;
  return options;
}

absl::StatusOr<std::vector<AnnealingChains::Met>> AnnealingChains::Walk(
    int count, const Score& score, const SearchState& state) {
  if (at_.empty()) {
    Traces taken;
    for (const Candidate& seed : state.seeds) {
      if (static_cast<int>(at_.size()) < options_.chains &&
          taken.insert(seed.trace).second)
        at_.push_back(seed);
    }
    const int missing = options_.chains - static_cast<int>(at_.size());
    for (Candidate& drawn : state.space.DrawNew(missing, taken, state.random))
      at_.push_back(std::move(drawn));
  }
  BestMet best(count, state.visited);
  if (at_.empty()) return std::move(best).Take();
  TW_ASSIGN_OR_RETURN(std::vector<double> scores, score(PointersTo(at_)));
  for (size_t i = 0; i < at_.size(); ++i) best.Offer(at_[i], scores[i]);
  const double highest = *std::max_element(scores.begin(), scores.end());
  const double unit = highest > 0 ? highest : 1;
  int vain = 0;
  for (int step = 0; step < options_.steps && vain < options_.patience;
       ++step) {
    const double temperature =
        options_.first_temperature +
        (options_.last_temperature - options_.first_temperature) * step /
            (options_.steps + 1);
    std::vector<Candidate> next;
    std::vector<size_t> chain;  // of each
    for (size_t i = 0; i < at_.size(); ++i) {
      absl::StatusOr<Candidate> moved =
          state.space.Redraw(at_[i], state.random);
      if (!moved.ok()) continue;  // refused: it stays
      next.push_back(*std::move(moved));
      chain.push_back(i);
    }
    ++vain;
    if (next.empty()) continue;
    TW_ASSIGN_OR_RETURN(const std::vector<double> there,
                        score(PointersTo(next)));
    for (size_t k = 0; k < next.size(); ++k) {
      if (best.Offer(next[k], there[k])) vain = 0;
      const size_t i = chain[k];
      // The small number is TVM's, for a temperature of 0.
      const double taken = std::exp(std::min(
          (there[k] - scores[i]) / (unit * (temperature + 1e-5)), 1.0));
      if (!(state.random.Uniform() < taken)) continue;
      at_[i] = std::move(next[k]);
      scores[i] = there[k];
    }
  }
  return std::move(best).Take();
}

}  // namespace tilewright::search

// AdaTune's search (Li et al., NeurIPS 2020, section 4.2 and algorithm 1):
// simulated annealing on expected improvement, and a share of random candidates
// that follows how uncertain the cost model is:
//
//   epsilon_t = mean over K random candidates of the standard deviation of the
//               prediction / score of the best measured one           (equation
//               3)
//
// As in the published code, K is 20, epsilon is 0.05 before there is a model,
// and there are twice as many chains as candidates in a batch. Its epsilon may
// exceed 1, and its branch for a deviation of 0 has no effect; here epsilon is
// at most 1, and expected improvement is equation 1. Scores are relative to the
// best measured one, whose own is 1.
#ifndef TILEWRIGHT_SEARCH_CONTEXTUAL_ANNEALING_H_
#define TILEWRIGHT_SEARCH_CONTEXTUAL_ANNEALING_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "search/annealing_chains.h"
#include "search/candidate.h"
#include "search/method.h"

namespace tilewright::search {

struct ContextualAnnealingOptions {
  AnnealingChainsOptions chains;
  int samples = 20;  // K
  double first_epsilon = 0.05;
  bool adapt_epsilon = true;  // false: it stays the first one
};

// Searches one task.
class ContextualAnnealing : public Method {
 public:
  explicit ContextualAnnealing(const ContextualAnnealingOptions& options)
      : options_(options),
        chains_(options.chains),
        epsilon_(options.first_epsilon) {}

  // Random before anything was learned. FailedPrecondition if the cost model
  // tells no variances.
  absl::StatusOr<std::vector<Candidate>> Propose(
      int count, const SearchState& state) override;

  // The share of random candidates in the last batch.
  double epsilon() const { return epsilon_; }

 private:
  absl::Status AdaptEpsilon(const SearchState& state);

  const ContextualAnnealingOptions options_;
  AnnealingChains chains_;
  double epsilon_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_CONTEXTUAL_ANNEALING_H_

// AutoTVM's search (Chen et al., "Learning to Optimize Tensor Programs", 2018,
// algorithm 1): simulated annealing on predicted scores; the best that it met
// are measured, on request those of them that differ most, and 5 % at random.
//
// TVM's chains (128 of 500 steps) look at 64,000 candidates for a batch. Ours
// look at 512, as many as evolution does; AnnealingChainsOptions::AutoTvm() has
// theirs.
#ifndef TILEWRIGHT_SEARCH_ANNEALING_H_
#define TILEWRIGHT_SEARCH_ANNEALING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "search/annealing_chains.h"
#include "search/candidate.h"
#include "search/method.h"

namespace tilewright::search {

struct AnnealingOptions {
  AnnealingChainsOptions chains;
  double epsilon = 0.05;  // of what is measured: drawn at random
  // Above 1: so many times the batch are met, of which the batch is picked to
  // be diverse (diverse_pick.h). TVM's default is none.
  double diversity_ratio = 0;
  // How much a newly covered value of a decision counts beside scores, which
  // are at most about 1. TVM's code counts nothing else, its paper both.
  double coverage_weight = 0.05;
};

// Searches one task: chains stand somewhere in its space.
class Annealing : public Method {
 public:
  explicit Annealing(const AnnealingOptions& options)
      : options_(options), chains_(options.chains) {}

  // Random before anything was learned. Errors are those of predicting.
  absl::StatusOr<std::vector<Candidate>> Propose(
      int count, const SearchState& state) override;

 private:
  const AnnealingOptions options_;
  AnnealingChains chains_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_ANNEALING_H_

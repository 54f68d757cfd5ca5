// Parallel simulated annealing over a task's space, as AutoTVM's code has it
// (TVM 0.18, autotvm/tuner/sa_model_optimizer.py): chains walk by changing one
// decision, go on from where they ended, and what they met is ranked by score.
#ifndef TILEWRIGHT_SEARCH_ANNEALING_CHAINS_H_
#define TILEWRIGHT_SEARCH_ANNEALING_CHAINS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "search/candidate.h"
#include "search/method.h"

namespace tilewright::search {

struct AnnealingChainsOptions {
  int chains = 32;
  int steps = 15;
  // Falls from the first to the second, by as much every step. In units of the
  // highest score that a walk begins at: predicted scores are about 1 there,
  // expected improvements far smaller.
  double first_temperature = 0.1, last_temperature = 0;
  // Steps in a row in which nothing better was met; then the walk ends.
  int patience = 5;

  // The constants of TVM: 128 chains of 500 steps, 50 without anything better,
  // from a temperature of 1, at which few of our few steps would be refused.
  static AnnealingChainsOptions AutoTvm();
};

class AnnealingChains {
 public:
  explicit AnnealingChains(const AnnealingChainsOptions& options)
      : options_(options) {}

  // One a candidate; the higher the better.
  using Score = std::function<absl::StatusOr<std::vector<double>>(
      absl::Span<const Candidate* const>)>;

  struct Met {
    Candidate candidate;
    double score;
  };
  // The `count` best that were met and not visited, best first; fewer if fewer
  // were met with a score of 0 or more. A step to a candidate whose score is by
  // d better is taken with probability min(1, exp(d / temperature)), d and
  // temperature in the same unit. The first
  // chains begin at the seeds, the others anywhere.
  absl::StatusOr<std::vector<Met>> Walk(int count, const Score& score,
                                        const SearchState& state);

 private:
  const AnnealingChainsOptions options_;
  std::vector<Candidate> at_;  // where the chains stand
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_ANNEALING_CHAINS_H_

// Evolutionary search (Zheng et al., "Ansor", OSDI 2020, section 5.1): parents
// are drawn in proportion to their predicted scores, children are mutants of
// them, and the best of all generations are measured.
//
// A population of Ansor's code has 2,048 candidates, of which it measures 64.
// Ours has 96, so that a batch costs less to find than to measure. Other
// differences: crossover, which the paper has and TVM's code does not; children
// that are refused are tried again, and then their parent lives on; a first
// population begins with the seeds, and half of what is drawn for it are their
// mutants.
#ifndef TILEWRIGHT_SEARCH_EVOLUTION_H_
#define TILEWRIGHT_SEARCH_EVOLUTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "search/candidate.h"
#include "search/method.h"

namespace tilewright::search {

struct EvolutionOptions {
  int population = 96;
  int generations = 4;     // after the first
  double mutation = 0.85;  // otherwise the parent lives on
  double crossover = 0;    // of the children, before mutation
  // The share of the population, at most, that is taken from records: the
  // fastest that were measured.
  double measured_share = 0.2;
  // The share of mutants in the rest: mutants of seeds and of these. 0: all are
  // drawn.
  double mutant_share = 0.5;
  double epsilon = 0.05;  // of what is measured: drawn at random

  // The constants of TVM 0.18 (auto_scheduler).
  static EvolutionOptions Ansor();
};

class Evolution : public Method {
 public:
  explicit Evolution(const EvolutionOptions& options) : options_(options) {}

  // Before anything was learned, scores are random. Errors are those of
  // predicting.
  absl::StatusOr<std::vector<Candidate>> Propose(
      int count, const SearchState& state) override;

 private:
  const EvolutionOptions options_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_EVOLUTION_H_

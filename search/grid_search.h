// Grid search: every table of decisions, generator by generator, in a fixed
// order. For small spaces, and to know their best candidate.
#ifndef TILEWRIGHT_SEARCH_GRID_SEARCH_H_
#define TILEWRIGHT_SEARCH_GRID_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "search/candidate.h"
#include "search/method.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::search {

// Searches one task: it remembers where it stands in its space.
class GridSearch : public Method {
 public:
  // A call gives up after so many runs without a new candidate:
  // ResourceExhausted; the next one goes on there.
  explicit GridSearch(int64_t most_vain_runs = 20'000)
      : most_vain_runs_(most_vain_runs) {}

  // FailedPrecondition names a decision that has too many values to enumerate.
  absl::StatusOr<std::vector<Candidate>> Propose(
      int count, const SearchState& state) override;

 private:
  const int64_t most_vain_runs_;
  size_t generator_ = 0;
  EnumeratingPolicy tables_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_GRID_SEARCH_H_

#include "search/random_search.h"

namespace tilewright::search {

absl::StatusOr<std::vector<Candidate>> RandomSearch::Propose(
    int count, const SearchState& state) {
  return state.space.DrawNew(count, state.visited, state.random);
}

}  // namespace tilewright::search

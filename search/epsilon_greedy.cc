#include "search/epsilon_greedy.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace tilewright::search {

std::vector<Candidate> PickEpsilonGreedy(std::vector<Candidate> best, int count,
                                         double epsilon,
                                         const SearchState& state) {
  TW_CHECK(epsilon >= 0 && epsilon <= 1);
  const double share = epsilon * count;
  int random = static_cast<int>(share);
  if (state.random.Bernoulli(share - std::floor(share))) ++random;
  const auto greedy = static_cast<size_t>(std::min<int>(
      std::max(0, count - random), static_cast<int>(best.size())));
  Traces taken = state.visited;
  for (size_t i = 0; i < greedy; ++i) taken.insert(best[i].trace);
  std::vector<Candidate> drawn = state.space.DrawNew(
      count - static_cast<int>(greedy), taken, state.random);
  // The next best fill the places for which drawing finds nothing.
  for (const Candidate& candidate : drawn) taken.insert(candidate.trace);
  std::vector<Candidate> picked(
      std::make_move_iterator(best.begin()),
      std::make_move_iterator(best.begin() + static_cast<ptrdiff_t>(greedy)));
  for (size_t i = greedy; i < best.size() && picked.size() + drawn.size() <
                                                 static_cast<size_t>(count);
       ++i) {
    if (taken.insert(best[i].trace).second)
      picked.push_back(std::move(best[i]));
  }
  std::move(drawn.begin(), drawn.end(), std::back_inserter(picked));
  return picked;
}

}  // namespace tilewright::search

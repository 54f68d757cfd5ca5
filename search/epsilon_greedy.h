// The batch to measure: mostly the candidates that look best, and some that
// were drawn at random, whatever is predicted of them (AutoTVM, algorithm 1;
// Ansor, section 5.1; both with 5 %).
#ifndef TILEWRIGHT_SEARCH_EPSILON_GREEDY_H_
#define TILEWRIGHT_SEARCH_EPSILON_GREEDY_H_

#include <vector>

#include "search/candidate.h"
#include "search/method.h"

namespace tilewright::search {

// `count` candidates: a share of `epsilon`, in [0, 1], random ones at the end,
// before them the first of `best`, which are those that were not visited, best
// first, with traces of their own. Where the share is no whole number the rest
// is its probability, so that small batches explore as much as large ones.
// Either makes up for what the other has not. Fewer than `count` only where
// neither finds more.
std::vector<Candidate> PickEpsilonGreedy(std::vector<Candidate> best, int count,
                                         double epsilon,
                                         const SearchState& state);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_EPSILON_GREEDY_H_

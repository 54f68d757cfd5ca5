// Few of many candidates that score well and differ: the greedy maximum of a
// submodular function (Chen et al., "Learning to Optimize Tensor Programs",
// section 3.3, equation 3):
//
//   L(S) = sum of scores + coverage_weight * sum over decisions of the number
//          of values that some candidate of S has
//
// The greedy choice has at least 1 - 1/e of the largest L (Nemhauser et al.,
// 1978), where scores are not negative.
#ifndef TILEWRIGHT_SEARCH_DIVERSE_PICK_H_
#define TILEWRIGHT_SEARCH_DIVERSE_PICK_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "search/candidate.h"

namespace tilewright::search {

// L of those.
double Diversity(absl::Span<const Candidate> candidates,
                 absl::Span<const double> scores, double coverage_weight,
                 absl::Span<const size_t> picked);

// Indices of `count` candidates, or of all if there are fewer, in the order in
// which they were picked; of equal gains the first. REQUIRES: as many scores as
// candidates.
std::vector<size_t> PickDiverse(absl::Span<const Candidate> candidates,
                                absl::Span<const double> scores, int count,
                                double coverage_weight);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_DIVERSE_PICK_H_

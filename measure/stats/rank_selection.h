#ifndef TILEWRIGHT_MEASURE_STATS_RANK_SELECTION_H_
#define TILEWRIGHT_MEASURE_STATS_RANK_SELECTION_H_

#include <vector>

#include "absl/types/span.h"

namespace tilewright::measure {

struct RankSelectionOptions {
  double share = 0.01;  // K, of the candidates; DOPpler's published code: 0.1
  int at_least = 3;     // the paper: none
};

// Which candidates are measured again alone when tuning ends, so that the best
// is named from values that nothing disturbed (DOPpler, section 4.3, "Rank
// selection"): the indices of the max(at_least, ceil(share n)) smallest of n
// latencies, best first; the earlier one of equal ones. A candidate without a
// latency counts in n, has NaN or infinity, and is never chosen.
std::vector<int> SelectTopRanks(absl::Span<const double> latencies_ns,
                                const RankSelectionOptions& options = {});

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_STATS_RANK_SELECTION_H_

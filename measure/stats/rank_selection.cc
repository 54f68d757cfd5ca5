#include "measure/stats/rank_selection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "measure/stats/share_of.h"

namespace tilewright::measure {

std::vector<int> SelectTopRanks(absl::Span<const double> latencies_ns,
                                const RankSelectionOptions& options) {
  std::vector<int> ranked;
  for (size_t i = 0; i < latencies_ns.size(); ++i) {
    if (std::isfinite(latencies_ns[i])) ranked.push_back(static_cast<int>(i));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&](int a, int b) {
    return latencies_ns[static_cast<size_t>(a)] <
           latencies_ns[static_cast<size_t>(b)];
  });
  const int wanted =
      std::max(options.at_least,
               ShareOf(options.share, static_cast<int>(latencies_ns.size())));
  ranked.resize(std::min(ranked.size(), static_cast<size_t>(wanted)));
  return ranked;
}

}  // namespace tilewright::measure

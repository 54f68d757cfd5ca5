#include "tilegraph/traffic/loop_orders.h"

#include <algorithm>

namespace tilewright {

std::vector<std::vector<int>> LoopOrders(const std::vector<int64_t>& tile,
                                         const std::vector<int64_t>& within) {
  std::vector<int> still, running;
  for (size_t d = 0; d < within.size(); ++d)
    (tile[d] < within[d] ? running : still).push_back(static_cast<int>(d));
  std::vector<std::vector<int>> orders;
  const auto add = [&](const std::vector<int>& loops) {
    orders.push_back(still);
    orders.back().insert(orders.back().end(), loops.begin(), loops.end());
  };
  if (running.size() <= 3) {
    do {
      add(running);
    } while (std::next_permutation(running.begin(), running.end()));
    return orders;
  }
  for (size_t i = running.size(); i-- > 0;) {
    std::vector<int> loops = running;
    std::rotate(loops.begin() + static_cast<int64_t>(i),
                loops.begin() + static_cast<int64_t>(i) + 1, loops.end());
    add(loops);
  }
  return orders;
}

}  // namespace tilewright

// Orders in which tiles can be computed.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_LOOP_ORDERS_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_LOOP_ORDERS_H_

#include <cstdint>
#include <vector>

namespace tilewright {

// Orders of the loops over tiles of `tile` within `within`, outermost first;
// dimensions that a single tile covers stand outside. All orders of up to three
// loops that run, else those that differ in which one runs fastest.
std::vector<std::vector<int>> LoopOrders(const std::vector<int64_t>& tile,
                                         const std::vector<int64_t>& within);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_LOOP_ORDERS_H_

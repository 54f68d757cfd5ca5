// Memory moves in whole transactions: what that adds to the bytes of a region.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_TRANSACTIONS_H_
#define TILEWRIGHT_TILEGRAPH_TILING_TRANSACTIONS_H_

#include <cstdint>
#include <vector>

#include "tilegraph/layout.h"
#include "tilegraph/tiling/tile_regions.h"

namespace tilewright {

// Bytes of the transactions that move `box`, over the bytes of its elements, on
// average over the tiles: runs of elements side by side in memory start
// anywhere that tiles and rows let them.
double TransactionRounding(const TileBox& box,
                           const std::vector<int64_t>& shape,
                           const Layout& layout, int64_t element_bytes,
                           int64_t transaction_bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_TRANSACTIONS_H_

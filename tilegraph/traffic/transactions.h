// Memory moves in whole transactions: what that adds to the bytes of a region.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_TRANSACTIONS_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_TRANSACTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/traffic/tile_regions.h"

namespace tilewright {

// Bytes of the transactions that move a region over the bytes of its elements,
// on average over the tiles: runs of elements side by side in memory start
// anywhere that tiles and rows let them. By digit of the layout, outermost
// first: the outermost one over which neighbouring elements move together. [0]
// is for a region that moves at once; [i] for one whose parts along the digits
// before i move at different times, so that transactions at their borders move
// for each.
using Rounding = absl::InlinedVector<double, 6>;
Rounding TransactionRounding(const TileBox& box,
                             const std::vector<int64_t>& shape,
                             const Layout& layout, int64_t element_bytes,
                             int64_t transaction_bytes);

// Elements of a region from one gap in memory of at least `least_gap` elements
// to the next.
int64_t RunElements(const std::vector<int64_t>& extents,
                    const std::vector<int64_t>& shape, const Layout* layout,
                    int64_t least_gap);

// The digit of `layout` that a region enters as it moves: the outermost that
// one move along `dim` by `elements` changes, -1 if it does not move.
int MovedDigit(const Layout& layout, int dim, int64_t elements);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_TRANSACTIONS_H_

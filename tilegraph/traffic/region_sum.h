// Elements that regions have over all tiles, each tile's for itself.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_REGION_SUM_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_REGION_SUM_H_

#include <cstdint>
#include <vector>

#include "tilegraph/traffic/tile_regions.h"

namespace tilewright {

// Which tile numbers the base depends on: bit d for dimension d.
uint32_t Moves(const TileSpan& span, const TileRegions& regions);

// Σ over tiles of the elements that `need` has in a tensor of `shape`. Where
// tensors clip regions that move along several dimensions of more than 65,536
// tiles, an inner tile stands for all.
double SumOfElements(const TileNeed& need, const std::vector<int64_t>& shape,
                     const std::vector<int64_t>& trips, TileRegions& regions);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_REGION_SUM_H_

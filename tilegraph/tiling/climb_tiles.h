// Tiles worth a price: a climb over sizes that each dimension may have.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_CLIMB_TILES_H_
#define TILEWRIGHT_TILEGRAPH_TILING_CLIMB_TILES_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright {

// Sizes worth trying along a dimension, ascending: what divides it, and where
// little does, powers of two; but for the whole, multiples of `multiple` alone.
std::vector<int64_t> DividingSizes(int64_t extent, int64_t multiple);

// Lower is better: whether it overflows, and a price.
using TileRank = std::pair<bool, double>;
using RankTile =
    std::function<absl::StatusOr<TileRank>(const std::vector<int64_t>& tile)>;

// Climbs from the largest tile and from one that is smallest in all dimensions
// but `vector_dim` (-1: in all), one dimension a size larger, smaller, or one
// larger for another smaller, to where no such step is better. `rank` is asked
// once per tile that comes by; its errors are passed on.
// REQUIRES: sizes of every dimension.
absl::Status ClimbTiles(const std::vector<std::vector<int64_t>>& sizes,
                        int vector_dim, const RankTile& rank);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_CLIMB_TILES_H_

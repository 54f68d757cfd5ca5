// The search for tiles (EnumerateSubtiles of Welder's figure 7): from given
// tiles, the most promising first, along sizes that each dimension may have.
// The caller says what a tile is worth and whether it fits: a core with caches
// (group_cost.h), blocks of a GPU (align/gpu_tiling.h).
#ifndef TILEWRIGHT_TILEGRAPH_COST_SEARCH_TILES_H_
#define TILEWRIGHT_TILEGRAPH_COST_SEARCH_TILES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright {

// Sizes worth trying along a dimension, ascending: what divides it, and where
// little does, powers of two; but for the whole, multiples of `multiple` alone.
std::vector<int64_t> DividingSizes(int64_t extent, int64_t multiple);

// Those of a dimension of rows, which need not be cut evenly: where it is long
// and register tiles of 6 rows do not divide it, sizes that all good register
// tiles divide too, the last tile partial.
std::vector<int64_t> RowSizes(int64_t extent);

// Lower is better, the first number before the second.
using TileRank = std::pair<double, double>;
using RankTile = std::function<absl::StatusOr<std::optional<TileRank>>(
    const std::vector<int64_t>& tile)>;

struct SearchTilesOptions {
  int visits = 1000;   // tiles looked at, at most
  int patience = 256;  // that many in a row without a better one end a start
};

// From each of `starts` by itself: the best tile that was not left yet is left
// for its neighbours, which are one dimension a size larger, smaller, or one
// larger for another smaller. `rank` is asked once about every tile that comes
// by; a tile without a rank is not left. Errors of `rank` are passed on.
// Deterministic.
// REQUIRES: sizes of every dimension, ascending; starts are of such sizes.
absl::Status SearchTiles(const std::vector<std::vector<int64_t>>& sizes,
                         const std::vector<std::vector<int64_t>>& starts,
                         const SearchTilesOptions& options,
                         const RankTile& rank);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_SEARCH_TILES_H_

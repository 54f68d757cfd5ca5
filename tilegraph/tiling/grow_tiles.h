// EnumerateSubtiles (Welder, figure 7): tiles grown from the smallest, the most
// promising first, as far as that pays. What a tile is worth and whether it
// fits is the caller's: memory levels of a CPU (subgraph_tiling.h), blocks of a
// GPU (align/gpu_tiling.h).
#ifndef TILEWRIGHT_TILEGRAPH_TILING_GROW_TILES_H_
#define TILEWRIGHT_TILEGRAPH_TILING_GROW_TILES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright {

// Lower is better, the first number before the second.
using GrowRank = std::pair<double, double>;

struct GrowTilesOptions {
  int visits = 1000;   // tiles looked at, at most
  int patience = 256;  // that many in a row without a better one end it
};

// `sizes`: what each dimension may have, ascending. `visit` is asked once about
// every tile that comes by, that of the first sizes before the others; tiles
// that it gives no rank are not grown further. Errors of `visit` are passed on.
// Deterministic.
absl::Status GrowTiles(
    const std::vector<std::vector<int64_t>>& sizes,
    const GrowTilesOptions& options,
    const std::function<absl::StatusOr<std::optional<GrowRank>>(
        const std::vector<int64_t>& tile)>& visit);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_GROW_TILES_H_

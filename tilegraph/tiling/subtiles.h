// EnumerateSubtiles (Welder, figure 7; Roller's growth of tiles): the sizes
// that a tile may have along each dimension, and the tiles that come after one.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_SUBTILES_H_
#define TILEWRIGHT_TILEGRAPH_TILING_SUBTILES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/tiling/mem_traffic.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {

// Sizes of tiles within `extent`, ascending: the smallest ones, its divisors,
// powers of two, and those that cut it evenly into 2^i or 3 * 2^i tiles.
std::vector<int64_t> TileSizes(int64_t extent);

class Subtiles {
 public:
  // `graph` and `part` must outlive it.
  Subtiles(const TensorGraph& graph, const Subgraph& part,
           const std::vector<int64_t>& within);

  // Of each dimension: TileSizes within it.
  const std::vector<std::vector<int64_t>>& sizes() const { return sizes_; }

  // Cuts the reductions of `tile` into steps until it fits, halving at each
  // turn the axis that saves most. The last one tried if none does.
  absl::StatusOr<TileShape> FitReduction(TileShape tile,
                                         MemTraffic& traffic) const;

 private:
  const TensorGraph& graph_;
  const Subgraph& part_;
  std::vector<std::vector<int64_t>> sizes_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_SUBTILES_H_

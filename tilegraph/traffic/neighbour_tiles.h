// Whether tiles of a part's output that follow each other need some of the same
// of what is computed before it.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_NEIGHBOUR_TILES_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_NEIGHBOUR_TILES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/traffic/tile_graph.h"
#include "tilegraph/traffic/tile_regions.h"

namespace tilewright {

// Any number of tiles of one part. Not thread-safe.
class NeighbourTiles {
 public:
  // The members of each stage, the last of them its result; that of the last
  // stage is the output. `graph` must outlive it.
  NeighbourTiles(const TensorGraph& graph,
                 const std::vector<std::vector<TensorId>>& stages);

  // Whether of the result of some stage before the last the regions of
  // neighbours along `axis`, of which there are `tiles`, overlap: they move
  // along one of its dimensions alone, by less than they are long. REQUIRES:
  // one extent per dimension of the output.
  bool Overlap(const std::vector<int64_t>& tile, size_t axis, int64_t tiles);

 private:
  const Subgraph part_;
  TileRegions regions_;
  std::vector<size_t> results_;  // by place among the members
  std::vector<TileNeed> needs_;  // while Overlap runs
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_NEIGHBOUR_TILES_H_

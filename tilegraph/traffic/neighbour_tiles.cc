#include "tilegraph/traffic/neighbour_tiles.h"

#include <algorithm>

namespace tilewright {
namespace {

// Nothing is asked of what it reads.
Subgraph PartOf(const std::vector<std::vector<TensorId>>& stages) {
  Subgraph part;
  for (const std::vector<TensorId>& members : stages)
    part.members.insert(part.members.end(), members.begin(), members.end());
  std::sort(part.members.begin(), part.members.end());
  part.outputs = {stages.back().back()};
  return part;
}

}  // namespace

NeighbourTiles::NeighbourTiles(const TensorGraph& graph,
                               const std::vector<std::vector<TensorId>>& stages)
    : part_(PartOf(stages)), regions_(graph, part_, TileBetween::kNeeded) {
  for (size_t s = 0; s + 1 < stages.size(); ++s) {
    const auto result = std::lower_bound(part_.members.begin(),
                                         part_.members.end(), stages[s].back());
    results_.push_back(static_cast<size_t>(result - part_.members.begin()));
  }
}

bool NeighbourTiles::Overlap(const std::vector<int64_t>& tile, size_t axis,
                             int64_t tiles) {
  TileBox box(tile.size());
  for (size_t d = 0; d < tile.size(); ++d) {
    box[d].moves.assign(tile.size(), 0);
    box[d].extent = tile[d];
  }
  box[axis].moves[axis] = tile[axis];
  std::vector<int64_t> trips(tile.size(), 1);
  trips[axis] = tiles;
  regions_.Of(box, trips, {}, needs_);
  return std::any_of(results_.begin(), results_.end(), [&](size_t result) {
    int moving = 0;
    bool overlap = false;
    for (const TileSpan& span : needs_[result].box) {
      const int64_t move = span.moves[axis];
      if (move == 0) continue;
      ++moving;
      overlap |= move > 0 && move < (span.extent - 1) * span.step + 1;
    }
    return moving == 1 && overlap;
  });
}

}  // namespace tilewright

#include "tilegraph/tiling/climb_tiles.h"

#include <cstddef>
#include <map>
#include <set>

#include "base/status_macros.h"

namespace tilewright {
namespace {

using Place = std::vector<size_t>;  // index of a size, per dimension

std::vector<Place> Neighbours(const Place& place,
                              const std::vector<std::vector<int64_t>>& sizes) {
  std::vector<Place> next;
  for (size_t d = 0; d < place.size(); ++d) {
    for (size_t e = 0; e < place.size(); ++e) {
      if (place[d] + 1 == sizes[d].size()) break;
      if (d != e && place[e] == 0) continue;
      next.push_back(place);
      ++next.back()[d];
      if (d != e) --next.back()[e];
    }
    if (place[d] == 0) continue;
    next.push_back(place);
    --next.back()[d];
  }
  return next;
}

}  // namespace

std::vector<int64_t> DividingSizes(int64_t extent, int64_t multiple) {
  std::set<int64_t> sizes = {extent};
  for (int64_t size = multiple; size < extent; size += multiple) {
    if (extent % size == 0) sizes.insert(size);
  }
  if (sizes.size() > 3 || multiple > 1) return {sizes.begin(), sizes.end()};
  for (int64_t size = multiple; size < extent; size *= 2) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

absl::Status ClimbTiles(const std::vector<std::vector<int64_t>>& sizes,
                        int vector_dim, const RankTile& rank) {
  std::map<Place, TileRank> known;
  const auto at = [&](const Place& place) -> absl::StatusOr<TileRank> {
    const auto found = known.find(place);
    if (found != known.end()) return found->second;
    std::vector<int64_t> tile;
    for (size_t d = 0; d < place.size(); ++d)
      tile.push_back(sizes[d][place[d]]);
    TW_ASSIGN_OR_RETURN(const TileRank ranked, rank(tile));
    return known[place] = ranked;
  };
  Place whole, row;
  for (size_t d = 0; d < sizes.size(); ++d) {
    whole.push_back(sizes[d].size() - 1);
    row.push_back(static_cast<int>(d) == vector_dim ? whole[d] : 0);
  }
  for (Place place : {whole, row}) {
    TW_ASSIGN_OR_RETURN(TileRank here, at(place));
    for (bool climbing = true; climbing;) {
      climbing = false;
      for (Place& next : Neighbours(Place(place), sizes)) {
        TW_ASSIGN_OR_RETURN(const TileRank there, at(next));
        if (there >= here) continue;
        here = there;
        place = std::move(next);
        climbing = true;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright

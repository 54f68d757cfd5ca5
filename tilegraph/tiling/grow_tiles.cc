#include "tilegraph/tiling/grow_tiles.h"

#include <algorithm>
#include <set>

#include "base/status_macros.h"

namespace tilewright {

absl::Status GrowTiles(
    const std::vector<std::vector<int64_t>>& sizes,
    const GrowTilesOptions& options,
    const std::function<absl::StatusOr<std::optional<GrowRank>>(
        const std::vector<int64_t>& tile)>& visit) {
  std::set<std::pair<GrowRank, std::vector<int64_t>>> open;
  std::set<std::vector<int64_t>> seen;
  std::optional<GrowRank> best;
  int fruitless = 0;
  const auto look_at = [&](std::vector<int64_t> tile) -> absl::Status {
    if (!seen.insert(tile).second) return absl::OkStatus();
    ++fruitless;
    TW_ASSIGN_OR_RETURN(const std::optional<GrowRank> rank, visit(tile));
    if (!rank) return absl::OkStatus();
    if (!best || *rank < *best) {
      best = rank;
      fruitless = 0;
    }
    open.emplace(*rank, std::move(tile));
    return absl::OkStatus();
  };
  std::vector<int64_t> smallest;
  for (const std::vector<int64_t>& of_dim : sizes)
    smallest.push_back(of_dim.front());
  TW_RETURN_IF_ERROR(look_at(std::move(smallest)));
  while (!open.empty() && static_cast<int>(seen.size()) < options.visits &&
         fruitless <= options.patience) {
    const std::vector<int64_t> tile = open.begin()->second;
    open.erase(open.begin());
    for (size_t d = 0; d < tile.size(); ++d) {
      const auto next =
          std::upper_bound(sizes[d].begin(), sizes[d].end(), tile[d]);
      if (next == sizes[d].end()) continue;
      std::vector<int64_t> larger = tile;
      larger[d] = *next;
      TW_RETURN_IF_ERROR(look_at(std::move(larger)));
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright

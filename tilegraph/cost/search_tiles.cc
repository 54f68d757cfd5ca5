#include "tilegraph/cost/search_tiles.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "base/status_macros.h"

namespace tilewright {
namespace {

using Place = std::vector<size_t>;  // index of a size, per dimension

// Rows of register tiles (tilegraph/plan/register_tile.h) are 2, 3, 4, 6, 7, 12
// or 14, by the vectors beside them. What is a multiple of 84 all of them
// divide, shorter ones all but 7 and 14.
constexpr int64_t kGoodRows = 6, kLeastRows[] = {12, 84, 126};
// With fewer tiles the partial one leaves a core without work for long.
constexpr int64_t kLeastTiles = 16;

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

class Search {
 public:
  Search(const std::vector<std::vector<int64_t>>& sizes,
         const SearchTilesOptions& options, const RankTile& rank)
      : sizes_(sizes), options_(options), rank_(rank) {}

  absl::Status From(Place start) {
    open_.clear();
    reached_.clear();
    best_.reset();
    fruitless_ = 0;
    TW_RETURN_IF_ERROR(Reach(std::move(start)));
    while (!open_.empty() && fruitless_ <= options_.patience) {
      const Place place = open_.begin()->second;
      open_.erase(open_.begin());
      for (Place& next : Neighbours(place, sizes_)) {
        if (static_cast<int>(known_.size()) >= options_.visits)
          return absl::OkStatus();
        TW_RETURN_IF_ERROR(Reach(std::move(next)));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Reach(Place place) {
    if (!reached_.insert(place).second) return absl::OkStatus();
    ++fruitless_;
    auto known = known_.find(place);
    if (known == known_.end()) {
      std::vector<int64_t> tile;
      for (size_t d = 0; d < place.size(); ++d)
        tile.push_back(sizes_[d][place[d]]);
      TW_ASSIGN_OR_RETURN(const std::optional<TileRank> rank, rank_(tile));
      known = known_.emplace(place, rank).first;
    }
    const std::optional<TileRank>& rank = known->second;
    if (!rank) return absl::OkStatus();
    if (!best_ || *rank < *best_) {
      best_ = rank;
      fruitless_ = 0;
    }
    open_.emplace(*rank, std::move(place));
    return absl::OkStatus();
  }

  const std::vector<std::vector<int64_t>>& sizes_;
  const SearchTilesOptions& options_;
  const RankTile& rank_;
  std::map<Place, std::optional<TileRank>> known_;
  // State of the search from one start.
  std::set<std::pair<TileRank, Place>> open_;
  std::set<Place> reached_;
  std::optional<TileRank> best_;
  int fruitless_ = 0;
};

}  // namespace

std::vector<int64_t> DividingSizes(int64_t extent, int64_t multiple) {
  std::set<int64_t> sizes = {extent};
  const int64_t multiples = extent % multiple == 0 ? extent / multiple : 0;
  for (int64_t d = 1; d <= multiples / d; ++d) {
    if (multiples % d == 0) sizes.insert({multiple * d, extent / d});
  }
  if (sizes.size() > 3 || multiple > 1) return {sizes.begin(), sizes.end()};
  for (int64_t size = multiple; size < extent; size *= 2) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

std::vector<int64_t> RowSizes(int64_t extent) {
  std::vector<int64_t> sizes = DividingSizes(extent, 1);
  if (extent % kGoodRows == 0) return sizes;
  for (const int64_t least : kLeastRows) {
    for (int64_t size = least; size * kLeastTiles <= extent; size *= 2)
      sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

absl::Status SearchTiles(const std::vector<std::vector<int64_t>>& sizes,
                         const std::vector<std::vector<int64_t>>& starts,
                         const SearchTilesOptions& options,
                         const RankTile& rank) {
  Search search(sizes, options, rank);
  for (const std::vector<int64_t>& start : starts) {
    Place place;
    for (size_t d = 0; d < sizes.size(); ++d)
      place.push_back(
          std::lower_bound(sizes[d].begin(), sizes[d].end(), start[d]) -
          sizes[d].begin());
    TW_RETURN_IF_ERROR(search.From(std::move(place)));
  }
  return absl::OkStatus();
}

}  // namespace tilewright

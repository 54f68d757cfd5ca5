#include "tilegraph/tiling/subtiles.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tilewright {
namespace {

// Shorter steps would be loop overhead.
constexpr int64_t kShortestStep = 8;
// Up to here every size is tried.
constexpr int64_t kAllSizes = 10;

}  // namespace

std::vector<int64_t> TileSizes(int64_t extent) {
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= std::min(extent, kAllSizes); ++size)
    sizes.push_back(size);
  for (int64_t size = 1; size * size <= extent; ++size) {
    if (extent % size != 0) continue;
    sizes.push_back(size);
    sizes.push_back(extent / size);
  }
  for (int64_t power = 1; power < extent; power *= 2) {
    sizes.push_back(power);
    sizes.push_back((extent + power - 1) / power);
    sizes.push_back((extent + 3 * power - 1) / (3 * power));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Subtiles::Subtiles(const TensorGraph& graph, const Subgraph& part,
                   const std::vector<int64_t>& within)
    : graph_(graph), part_(part) {
  for (const int64_t extent : within) sizes_.push_back(TileSizes(extent));
}

absl::StatusOr<TileShape> Subtiles::FitReduction(TileShape tile,
                                                 MemTraffic& traffic) const {
  TW_ASSIGN_OR_RETURN(MemTraffic::Footprint best, traffic.FootprintOf(tile));
  while (!best.fits) {
    TileShape least_tile;
    MemTraffic::Footprint least = best;
    for (const TensorId member : part_.members) {
      const Compute& compute = graph_.tensor(member).compute;
      for (size_t axis = 0; axis < compute.reduce_axes.size(); ++axis) {
        TileShape cut = tile;
        std::vector<int64_t>& steps = cut.reduce[member];
        if (steps.empty()) {
          for (const Axis& whole : compute.reduce_axes)
            steps.push_back(whole.extent.value());
        }
        if (steps[axis] <= kShortestStep) continue;
        steps[axis] = (steps[axis] + 1) / 2;
        TW_ASSIGN_OR_RETURN(const MemTraffic::Footprint footprint,
                            traffic.FootprintOf(cut));
        if (footprint.bytes >= least.bytes) continue;
        least = footprint;
        least_tile = std::move(cut);
      }
    }
    if (least.bytes >= best.bytes) break;
    best = least;
    tile = std::move(least_tile);
  }
  return tile;
}

}  // namespace tilewright

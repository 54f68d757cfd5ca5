#include "tilegraph/tiling/mem_traffic.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/buffer_plan.h"

namespace tilewright {
namespace {

constexpr int64_t kScratchpadAlignmentBytes = 32;

double Capacity(const MemoryLevel& level) {
  return level.capacity_bytes() > 0
             ? static_cast<double>(level.capacity_bytes())
             : std::numeric_limits<double>::infinity();
}

// In a cache, which holds whole lines.
double LineBytes(const std::vector<TileOperand>& operands) {
  double bytes = 0;
  for (const TileOperand& operand : operands)
    bytes += static_cast<double>(operand.step_bytes) * operand.rounding;
  return bytes;
}

}  // namespace

MemTraffic::MemTraffic(const TileGraph& graph, const Subgraph& part,
                       const MemoryLevel& outer, const MemoryLevel& inner,
                       TrafficOptions options)
    : graph_(graph),
      part_(part),
      outer_(outer),
      inner_(inner),
      options_(std::move(options)) {}

absl::StatusOr<const TileWork*> MemTraffic::Work(const TileShape& tile) {
  const auto key = std::make_pair(tile.spatial, tile.reduce);
  const auto found = known_.find(key);
  if (found != known_.end()) return &found->second;
  TileWorkOptions options;
  options.read_transaction_bytes = outer_.read_transaction_bytes();
  options.write_transaction_bytes = outer_.write_transaction_bytes();
  options.layouts = options_.layouts;
  TW_ASSIGN_OR_RETURN(TileWork work, WorkOfTiles(graph_, part_, tile, options));
  return &known_.emplace(key, std::move(work)).first->second;
}

// The peak of a best-fit allocation while members are computed one after the
// other; an input is there from its first reader to its last.
int64_t MemTraffic::FootprintBytes(const TileWork& work) const {
  const auto step_of = [&](TensorId member) {
    return static_cast<int>(
        std::lower_bound(part_.members.begin(), part_.members.end(), member) -
        part_.members.begin());
  };
  std::vector<BufferLifetime> buffers;
  for (const auto* operands : {&work.inputs, &work.inside, &work.outputs}) {
    for (const TileOperand& operand : *operands) {
      int first = static_cast<int>(part_.members.size()), last = 0;
      for (const TensorId member : part_.members) {
        const std::vector<TensorId> reads = graph_.graph().Inputs(member);
        if (std::find(reads.begin(), reads.end(), operand.tensor) ==
            reads.end())
          continue;
        first = std::min(first, step_of(member));
        last = std::max(last, step_of(member));
      }
      if (operands != &work.inputs) {
        first = step_of(operand.tensor);
        last = std::max(last, first);
      }
      buffers.push_back({operand.step_bytes, first, last});
    }
  }
  return PlaceBuffers(buffers, kScratchpadAlignmentBytes).arena_bytes;
}

absl::StatusOr<LevelCost> MemTraffic::Cost(const LevelTiles& tiles,
                                           const std::vector<int64_t>& within) {
  TW_CHECK_EQ(tiles.tile.spatial.size(), within.size());
  if (inner_.kind() == MemoryLevel::CACHE) return CacheCost(tiles, within);
  TW_ASSIGN_OR_RETURN(const TileWork* work, Work(tiles.tile));
  LevelCost cost;
  cost.footprint_bytes = FootprintBytes(*work);
  cost.fits = static_cast<double>(cost.footprint_bytes) <= Capacity(inner_);
  cost.flops = work->flops;
  cost.tiles = work->tiles;
  for (const TileOperand& input : work->inputs)
    cost.read_bytes += input.total_moved_bytes;
  for (const TileOperand& output : work->outputs)
    cost.write_bytes += output.total_moved_bytes;
  return cost;
}

// Loops over the tiles of `within`, depth 0 outside of all. shape[p]: what the
// loops inside depth p cover together. The cache holds all that the loops
// inside some depth p touch; an operand read there comes in once per move of
// the loops around it, and neighbouring regions of consecutive moves share
// what they overlap in.
absl::StatusOr<LevelCost> MemTraffic::CacheCost(
    const LevelTiles& tiles, const std::vector<int64_t>& within) {
  const size_t depth = tiles.order.size();
  TW_CHECK_EQ(depth, within.size());
  std::vector<TileShape> shape(depth + 1, tiles.tile);
  for (size_t p = depth; p-- > 0;) {
    shape[p] = shape[p + 1];
    const int d = tiles.order[p];
    shape[p].spatial[d] = std::max(within[d], tiles.tile.spatial[d]);
    shape[p].reduce.clear();
  }
  TW_ASSIGN_OR_RETURN(const TileWork* tile, Work(tiles.tile));
  // Intermediate tiles lie in memory that is used again for every tile.
  const double inside = LineBytes(tile->inside);

  LevelCost cost;
  cost.footprint_bytes = static_cast<int64_t>(
      LineBytes(tile->inputs) + LineBytes(tile->outputs) + inside);
  cost.fits = static_cast<double>(cost.footprint_bytes) <=
              kPlannedCacheShare * Capacity(inner_);
  cost.flops = tile->flops;
  cost.tiles = tile->tiles;

  // The outermost depth whose loops' data stay in the cache.
  size_t held = depth;
  while (held > 0) {
    TW_ASSIGN_OR_RETURN(const TileWork* outer, Work(shape[held - 1]));
    if (LineBytes(outer->inputs) + LineBytes(outer->outputs) + inside >
        kHeldCacheShare * Capacity(inner_))
      break;
    --held;
  }
  // Bytes of one operand that come in, or go out.
  const auto moved = [&](const std::vector<TileOperand> TileWork::*list,
                         size_t i) -> absl::StatusOr<double> {
    // Up to which loop around the held ones consecutive regions coincide.
    size_t moves = held;
    while (moves > 0) {
      const int d = tiles.order[moves - 1];
      if (tiles.tile.spatial[d] < within[d] && (tile->*list)[i].varies[d])
        break;
      --moves;
    }
    TW_ASSIGN_OR_RETURN(const TileWork* once,
                        Work(shape[moves > 0 ? moves - 1 : 0]));
    return (once->*list)[i].total_moved_bytes;
  };
  for (size_t i = 0; i < tile->inputs.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const double bytes, moved(&TileWork::inputs, i));
    cost.read_bytes += bytes;
  }
  for (size_t i = 0; i < tile->outputs.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const double bytes, moved(&TileWork::outputs, i));
    cost.write_bytes += bytes;
    if (!options_.streaming_stores) cost.read_bytes += bytes;
  }
  // Memory of intermediate tiles is read for ownership once.
  cost.read_bytes += inside;
  return cost;
}

}  // namespace tilewright

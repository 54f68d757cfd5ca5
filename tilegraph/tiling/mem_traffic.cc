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

TileWorkOptions WorkOptions(const MemoryLevel& outer,
                            const TrafficOptions& options) {
  TileWorkOptions work;
  work.read_transaction_bytes = outer.read_transaction_bytes();
  work.write_transaction_bytes = outer.write_transaction_bytes();
  work.layouts = options.layouts;
  return work;
}

// While members are computed one after the other; an input is there from its
// first reader to its last.
std::vector<BufferLifetime> Lifetimes(const TensorGraph& graph,
                                      const Subgraph& part) {
  const int steps = static_cast<int>(part.members.size());
  std::vector<BufferLifetime> inputs(part.inputs.size(), {0, steps, 0});
  std::vector<BufferLifetime> members(part.members.size());
  for (int step = 0; step < steps; ++step) members[step] = {0, step, step};
  for (int step = 0; step < steps; ++step) {
    for (const TensorId read : graph.Inputs(part.members[step])) {
      const auto input =
          std::lower_bound(part.inputs.begin(), part.inputs.end(), read);
      const bool is_input = input != part.inputs.end() && *input == read;
      BufferLifetime& buffer =
          is_input ? inputs[input - part.inputs.begin()]
                   : members[std::lower_bound(part.members.begin(),
                                              part.members.end(), read) -
                             part.members.begin()];
      buffer.first = std::min(buffer.first, step);
      buffer.last = std::max(buffer.last, step);
    }
  }
  std::vector<BufferLifetime> buffers = inputs;
  for (const bool leaves : {false, true}) {
    for (int step = 0; step < steps; ++step) {
      if (std::binary_search(part.outputs.begin(), part.outputs.end(),
                             part.members[step]) == leaves)
        buffers.push_back(members[step]);
    }
  }
  return buffers;
}

}  // namespace

MemTraffic::MemTraffic(const TileGraph& graph, const Subgraph& part,
                       const MemoryLevel& outer, const MemoryLevel& inner,
                       TrafficOptions options)
    : inner_(inner),
      options_(std::move(options)),
      works_(graph, part, WorkOptions(outer, options_)),
      buffers_(Lifetimes(graph.graph(), part)) {}

absl::StatusOr<const TileWork*> MemTraffic::Work(
    const std::vector<int64_t>& spatial) {
  const auto found = known_.find(spatial);
  if (found != known_.end()) return &found->second;
  TW_ASSIGN_OR_RETURN(TileWork work, works_.Of({spatial, {}}));
  return &known_.emplace(spatial, std::move(work)).first->second;
}

absl::StatusOr<MemTraffic::Footprint> MemTraffic::FootprintOf(
    const TileShape& tile) {
  auto key = std::make_pair(tile.spatial, tile.reduce);
  const auto found = footprints_.find(key);
  if (found != footprints_.end()) return found->second;
  TW_ASSIGN_OR_RETURN(const TileWork* work, Work(tile.spatial));
  std::vector<int64_t> input_bytes;
  if (tile.reduce.empty()) {
    for (const TileOperand& input : work->inputs)
      input_bytes.push_back(input.step_bytes);
  } else {
    TW_ASSIGN_OR_RETURN(input_bytes, works_.StepBytes(tile));
  }
  Footprint footprint;
  if (inner_.kind() == MemoryLevel::CACHE) {
    double bytes = LineBytes(work->inside) + LineBytes(work->outputs);
    for (size_t i = 0; i < input_bytes.size(); ++i)
      bytes += static_cast<double>(input_bytes[i]) * work->inputs[i].rounding;
    footprint.bytes = static_cast<int64_t>(bytes);
    footprint.fits = static_cast<double>(footprint.bytes) <=
                     kPlannedCacheShare * Capacity(inner_);
  } else {
    size_t i = 0;
    for (const int64_t bytes : input_bytes) buffers_[i++].size_bytes = bytes;
    for (const auto* operands : {&work->inside, &work->outputs}) {
      for (const TileOperand& operand : *operands)
        buffers_[i++].size_bytes = operand.step_bytes;
    }
    footprint.bytes =
        PlaceBuffers(buffers_, kScratchpadAlignmentBytes).arena_bytes;
    footprint.fits = static_cast<double>(footprint.bytes) <= Capacity(inner_);
  }
  footprints_.emplace(std::move(key), footprint);
  return footprint;
}

absl::StatusOr<LevelCost> MemTraffic::Cost(const LevelTiles& tiles,
                                           const std::vector<int64_t>& within) {
  TW_CHECK_EQ(tiles.tile.spatial.size(), within.size());
  TW_ASSIGN_OR_RETURN(const Footprint footprint, FootprintOf(tiles.tile));
  TW_ASSIGN_OR_RETURN(const TileWork* work, Work(tiles.tile.spatial));
  LevelCost cost;
  cost.footprint_bytes = footprint.bytes;
  cost.fits = footprint.fits;
  cost.flops = work->flops;
  cost.tiles = work->tiles;
  if (inner_.kind() == MemoryLevel::CACHE)
    return CacheCost(tiles, within, cost, *work);
  for (const TileOperand& input : work->inputs)
    cost.read_bytes += input.total_moved_bytes;
  for (const TileOperand& output : work->outputs)
    cost.write_bytes += output.total_moved_bytes;
  return cost;
}

// Loops over the tiles of `within`, depth 0 outside of all. What the loops
// inside depth p cover together is a tile too. The cache holds all that the
// loops inside some depth p touch; an operand read there comes in once per move
// of the loops around it, and neighbouring regions of consecutive moves share
// what they overlap in.
absl::StatusOr<LevelCost> MemTraffic::CacheCost(
    const LevelTiles& tiles, const std::vector<int64_t>& within, LevelCost cost,
    const TileWork& tile) {
  const size_t depth = tiles.order.size();
  TW_CHECK_EQ(depth, within.size());
  const auto covered = [&](size_t p) -> absl::StatusOr<const TileWork*> {
    std::vector<int64_t> spatial = tiles.tile.spatial;
    for (size_t inner = p; inner < depth; ++inner) {
      const int d = tiles.order[inner];
      spatial[d] = std::max(within[d], spatial[d]);
    }
    return Work(spatial);
  };
  // Intermediate tiles lie in memory that is used again for every tile.
  const double inside = LineBytes(tile.inside);
  // The outermost depth whose loops' data stay in the cache.
  size_t held = depth;
  while (held > 0) {
    TW_ASSIGN_OR_RETURN(const TileWork* outer, covered(held - 1));
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
      if (tiles.tile.spatial[d] < within[d] && (tile.*list)[i].varies[d]) break;
      --moves;
    }
    TW_ASSIGN_OR_RETURN(const TileWork* once,
                        covered(moves > 0 ? moves - 1 : 0));
    return (once->*list)[i].total_moved_bytes;
  };
  for (size_t i = 0; i < tile.inputs.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const double bytes, moved(&TileWork::inputs, i));
    cost.read_bytes += bytes;
  }
  for (size_t i = 0; i < tile.outputs.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const double bytes, moved(&TileWork::outputs, i));
    cost.write_bytes += bytes;
    if (!options_.streaming_stores) cost.read_bytes += bytes;
  }
  // Memory of intermediate tiles is read for ownership once.
  cost.read_bytes += inside;
  return cost;
}

}  // namespace tilewright

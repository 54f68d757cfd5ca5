#include "tilegraph/traffic/mem_traffic.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/ir/arena.h"
#include "tilegraph/traffic/cache_loops.h"

namespace tilewright {
namespace {

constexpr int64_t kScratchpadAlignmentBytes = 32;

double Capacity(const MemoryLevel& level) {
  return level.capacity_bytes() > 0
             ? static_cast<double>(level.capacity_bytes())
             : std::numeric_limits<double>::infinity();
}

double LineBytes(const TileOperand& operand) {
  return static_cast<double>(operand.step_bytes) * operand.rounding;
}

double Sum(const std::vector<double>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
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

MemTraffic::Part::Part(const TileGraph& graph, const Subgraph& part,
                       const MemoryLevel& outer, TrafficOptions given)
    : options(std::move(given)),
      works(graph, part, WorkOptions(outer, options)),
      buffers(Lifetimes(graph.graph(), part)) {}

MemTraffic::MemTraffic(const TileGraph& graph, const Subgraph& part,
                       const MemoryLevel& outer, const MemoryLevel& inner,
                       TrafficOptions options)
    : part_(std::make_shared<Part>(graph, part, outer, std::move(options))),
      inner_(inner) {}

MemTraffic::MemTraffic(const MemTraffic& other, const MemoryLevel& inner)
    : part_(other.part_), inner_(inner) {}

absl::StatusOr<const MemTraffic::Known*> MemTraffic::Part::Work(
    const std::vector<int64_t>& spatial) {
  const auto found = known.find(spatial);
  if (found != known.end()) return &found->second;
  Known tile;
  TW_ASSIGN_OR_RETURN(tile.work, works.Of({spatial, {}}));
  TW_RETURN_IF_ERROR(AddSteps(spatial, tile));
  tile.inside_line_bytes = 0;
  for (const TileOperand& operand : tile.work.inside) {
    if (!options.in_registers.count(operand.tensor))
      tile.inside_line_bytes += LineBytes(operand);
  }
  return &known.emplace(spatial, std::move(tile)).first->second;
}

absl::Status MemTraffic::Part::AddSteps(const std::vector<int64_t>& spatial,
                                        Known& tile) {
  for (const TileOperand& input : tile.work.inputs)
    tile.input_step_bytes.push_back(input.step_bytes);
  if (options.reduce_steps.empty()) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(std::vector<TileWorks::Step> steps,
                      works.StepsOf({spatial, options.reduce_steps}));
  auto step = steps.begin();
  for (int64_t& bytes : tile.input_step_bytes) bytes = step++->bytes;
  for (TileOperand& inside : tile.work.inside) {
    while (step->tensor != inside.tensor) ++step;
    inside.extents = std::move(step->extents);
    inside.step_bytes = step->bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<const TileWork*> MemTraffic::WorkOf(
    const std::vector<int64_t>& spatial) {
  TW_ASSIGN_OR_RETURN(const Known* const known, part_->Work(spatial));
  return &known->work;
}

absl::StatusOr<absl::Span<const int64_t>> MemTraffic::StepBytes(
    const std::vector<int64_t>& spatial) {
  TW_ASSIGN_OR_RETURN(const Known* const known, part_->Work(spatial));
  return absl::MakeConstSpan(known->input_step_bytes);
}

absl::StatusOr<MemTraffic::Footprint> MemTraffic::FootprintOf(
    const TileShape& tile) {
  auto key = std::make_pair(tile.spatial, tile.reduce);
  const auto found = footprints_.find(key);
  if (found != footprints_.end()) return found->second;
  TW_ASSIGN_OR_RETURN(const Known* known, part_->Work(tile.spatial));
  const TileWork* const work = &known->work;
  std::vector<int64_t> input_bytes;
  if (tile.reduce.empty()) {
    for (const TileOperand& input : work->inputs)
      input_bytes.push_back(input.step_bytes);
  } else {
    TW_ASSIGN_OR_RETURN(const std::vector<TileWorks::Step> steps,
                        part_->works.StepsOf(tile));
    for (size_t i = 0; i < work->inputs.size(); ++i)
      input_bytes.push_back(steps[i].bytes);
  }
  Footprint footprint;
  if (inner_.kind() == MemoryLevel::CACHE) {
    double bytes = known->inside_line_bytes;
    for (const TileOperand& output : work->outputs) bytes += LineBytes(output);
    for (size_t i = 0; i < input_bytes.size(); ++i)
      bytes += static_cast<double>(input_bytes[i]) * work->inputs[i].rounding;
    footprint.bytes = static_cast<int64_t>(bytes);
    footprint.fits = static_cast<double>(footprint.bytes) <=
                     kPlannedCacheShare * Capacity(inner_);
  } else {
    std::vector<BufferLifetime>& buffers = part_->buffers;
    size_t i = 0;
    for (const int64_t bytes : input_bytes) buffers[i++].size_bytes = bytes;
    for (const auto* operands : {&work->inside, &work->outputs}) {
      for (const TileOperand& operand : *operands)
        buffers[i++].size_bytes =
            part_->options.in_registers.count(operand.tensor)
                ? 0
                : operand.step_bytes;
    }
    footprint.bytes =
        PlaceBuffers(buffers, kScratchpadAlignmentBytes).arena_bytes;
    footprint.fits = static_cast<double>(footprint.bytes) <= Capacity(inner_);
  }
  footprints_.emplace(std::move(key), footprint);
  return footprint;
}

absl::StatusOr<LevelCost> MemTraffic::Cost(const LevelTiles& tiles,
                                           const std::vector<int64_t>& within) {
  TW_ASSIGN_OR_RETURN(const Footprint footprint, FootprintOf(tiles.tile));
  TW_ASSIGN_OR_RETURN(const LevelTraffic traffic, ByOperand(tiles, within));
  TW_ASSIGN_OR_RETURN(const TileWork* const work, WorkOf(tiles.tile.spatial));
  LevelCost cost;
  cost.footprint_bytes = footprint.bytes;
  cost.fits = footprint.fits;
  cost.flops = work->flops;
  cost.tiles = work->tiles;
  cost.write_bytes = Sum(traffic.outputs) + Sum(traffic.inside);
  cost.read_bytes =
      Sum(traffic.inputs) + 2 * Sum(traffic.inside) + traffic.inside_once;
  if (inner_.kind() == MemoryLevel::CACHE && !part_->options.streaming_stores)
    cost.read_bytes += Sum(traffic.outputs);
  return cost;
}

absl::StatusOr<LevelTraffic> MemTraffic::ByOperand(
    const LevelTiles& tiles, const std::vector<int64_t>& within) {
  TW_CHECK_EQ(tiles.tile.spatial.size(), within.size());
  Covered covered(size_t{1} << within.size(), nullptr);
  TW_ASSIGN_OR_RETURN(covered[0], part_->Work(tiles.tile.spatial));
  if (inner_.kind() == MemoryLevel::CACHE)
    return CacheTraffic(tiles, within, covered);
  LevelTraffic traffic;
  for (const TileOperand& input : covered[0]->work.inputs)
    traffic.inputs.push_back(input.total_moved_bytes);
  for (const TileOperand& output : covered[0]->work.outputs)
    traffic.outputs.push_back(output.total_moved_bytes);
  for (const TileOperand& inside : covered[0]->work.inside) {
    if (part_->options.side_outputs.count(inside.tensor))
      traffic.side_outputs[inside.tensor] = inside.total_moved_bytes;
  }
  return traffic;
}

absl::StatusOr<LevelTraffic> MemTraffic::CacheTraffic(
    const LevelTiles& tiles, const std::vector<int64_t>& within,
    Covered& covered) {
  const size_t depth = tiles.order.size();
  TW_CHECK_EQ(depth, within.size());
  std::vector<TileLoop> loops;
  size_t dims = 0;  // as large as the level above
  for (size_t p = depth; p-- > 0;) {
    const int d = tiles.order[p];
    if (tiles.tile.spatial[d] >= within[d]) continue;
    dims |= size_t{1} << d;
    if (covered[dims] == nullptr) {
      std::vector<int64_t> spatial = tiles.tile.spatial;
      for (size_t e = 0; e < depth; ++e)
        if (dims >> e & 1) spatial[e] = within[e];
      TW_ASSIGN_OR_RETURN(covered[dims], part_->Work(spatial));
    }
    loops.push_back({d, &covered[dims]->work});
  }
  std::reverse(loops.begin(), loops.end());
  const TileWork& work = covered[0]->work;
  const double inside = covered[0]->inside_line_bytes;
  const double room = Capacity(inner_);
  CacheLoops nest(work, loops, room - inside);
  // A tile that does not fit drives out what the next one would use again.
  double touched = inside;
  for (const auto* operands : {&work.inputs, &work.outputs}) {
    for (const TileOperand& operand : *operands) touched += LineBytes(operand);
  }
  const auto bytes = [&](CacheLoops::Operands list, size_t i) {
    return touched <= room ? nest.Bytes(list, i)
                           : (work.*list)[i].total_moved_bytes;
  };
  LevelTraffic traffic;
  for (size_t i = 0; i < work.inputs.size(); ++i)
    traffic.inputs.push_back(bytes(&TileWork::inputs, i));
  for (size_t i = 0; i < work.outputs.size(); ++i)
    traffic.outputs.push_back(bytes(&TileWork::outputs, i));
  for (size_t i = 0; i < work.inside.size(); ++i) {
    const TensorId id = work.inside[i].tensor;
    if (part_->options.side_outputs.count(id))
      traffic.side_outputs[id] = bytes(&TileWork::inside, i);
  }
  // Memory of intermediate tiles is read for ownership once and used again for
  // every tile, as long as all of it stays.
  traffic.inside.assign(work.inside.size(), 0);
  if (inside <= room) {
    traffic.inside_once = inside;
    return traffic;
  }
  for (size_t i = 0; i < work.inside.size(); ++i) {
    if (!part_->options.in_registers.count(work.inside[i].tensor))
      traffic.inside[i] = work.inside[i].total_moved_bytes;
  }
  return traffic;
}

}  // namespace tilewright

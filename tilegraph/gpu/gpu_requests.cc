// What the warps of a generated plan ask for: GpuTileEvaluator::AddRequests.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/gpu/extents.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/warp_requests.h"

namespace tilewright {
namespace {

// What a compute reads, through the maps that were written into it.
struct Read {
  TensorId tensor = 0;
  bool shared = false;  // in the scratchpad, else an input where it lies
  AffineIndex index;
};

class Reads {
 public:
  Reads(const TensorGraph& graph, const GpuTilePlan& plan,
        const BlockTile& made)
      : graph_(graph), plan_(plan), made_(made) {}

  // Nothing that is read by an index that is not affine.
  std::vector<Read> Of(const GpuMember& member) const {
    std::vector<Read> reads;
    for (const GpuLoad& load : member.loads) {
      std::optional<AffineIndex> index =
          AffineIndexOf(graph_.tensor(member.id).compute, load.load);
      if (!index) continue;
      const GpuMember* const maker = MakerOf(load.tensor);
      if (load.shared || maker == nullptr) {
        reads.push_back({load.tensor, load.shared, *std::move(index)});
      } else if (made_.divisions.count(maker->id) == 0) {
        for (Read& inner : Of(*maker)) {
          inner.index = Through(*index, inner.index);
          reads.push_back(std::move(inner));
        }
      }
    }
    return reads;
  }

 private:
  const GpuMember* MakerOf(TensorId id) const {
    for (const GpuMember& member : plan_.members.members)
      if (member.id == id) return &member;
    return nullptr;
  }

  const TensorGraph& graph_;
  const GpuTilePlan& plan_;
  const BlockTile& made_;
};

// Every element of its own.
AffineIndex Identity(size_t dims, size_t axes) {
  AffineIndex index;
  index.base.assign(dims, 0);
  index.moves.assign(axes, index.base);
  for (size_t d = 0; d < dims; ++d) index.moves[d][d] = 1;
  return index;
}

// How often the threads touch each element of what they compute, in memory and
// in the scratchpad, for each of the nest's times. It is stored once, whatever
// the steps; lanes add theirs together to a zero that is stored first, and a
// sum that grows in the scratchpad is loaded and stored with every term.
struct StoresOf {
  StoresOf(const WarpNest& nest, int64_t steps, bool grows_shared) {
    in_memory = shared =
        (nest.tile.reduce_threads > 1 ? 3.0 : 1.0) / static_cast<double>(steps);
    if (nest.tile.reduce_threads > 1 || !grows_shared) return;
    double terms = 1;
    for (size_t a = nest.tile.threads.size(); a < nest.extents.size(); ++a)
      terms *= static_cast<double>(nest.extents[a]);
    shared += 2 * terms;
  }
  double in_memory = 1, shared = 1;
};

}  // namespace

std::optional<WarpNest> GpuTileEvaluator::NestOf(
    int member, const GeneratedBlock& made, const TileWork& work,
    const GpuTilePlan& plan) const {
  const TensorId id = gpu_.members[static_cast<size_t>(member)].id;
  const auto told = made.tile.divisions.find(id);
  const Compute& compute = graph_.tensor(id).compute;
  const size_t spatial = compute.axes.size();
  if (told == made.tile.divisions.end() ||
      told->second.threads.size() != spatial)
    return std::nullopt;
  WarpNest nest;
  nest.extents = AxesOf(member, work, plan.step, nest.times);
  nest.shape = graph_.tensor(id).static_shape();
  // Where other tiles than the output's lie is not known here: all as the
  // first.
  if (TileOf(work, id).extents == plan.tile && nest.shape.size() == spatial)
    nest.grid = plan.grid;
  else
    nest.times *= plan.blocks();
  for (const Axis& axis : compute.reduce_axes)
    nest.shape.push_back(axis.extent.value());
  nest.threads = plan.threads;
  nest.tile.threads = told->second.threads;
  nest.tile.vector = told->second.vector;
  nest.tile.reduce_threads = told->second.lanes;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t vector = d + 1 == spatial ? nest.tile.vector : 1;
    nest.tile.elements.push_back(
        CeilDiv(nest.extents[d], nest.tile.threads[d] * vector) * vector);
  }
  return nest;
}

void GpuTileEvaluator::AddRequests(const GeneratedBlock& made,
                                   const TileWork& work,
                                   GpuTilePlan& plan) const {
  const Reads reads(graph_, plan, made.tile);
  const Banks banks = BanksOf();
  GpuCost& cost = plan.cost;
  const auto sectors = [&](const WarpNest& nest, TensorId id,
                           const AffineIndex& index, int64_t sector_bytes) {
    const Tensor& tensor = graph_.tensor(id);
    const auto found = made.layouts.find(id);
    return RequestedSectors(nest, index,
                            found == made.layouts.end()
                                ? Layout::RowMajor(tensor.static_shape())
                                : found->second,
                            SizeBytes(tensor.dtype), sector_bytes);
  };
  const auto turns = [&](const WarpNest& nest, TensorId tensor,
                         const AffineIndex& index) {
    const auto operand = std::find_if(
        plan.shared.begin(), plan.shared.end(),
        [&](const SharedOperand& s) { return s.tensor == tensor; });
    if (operand == plan.shared.end() ||
        operand->extents.size() != index.base.size())
      return 0.0;
    const auto padding = made.tile.row_padding.find(tensor);
    return RequestedTurns(
        nest, index, operand->extents,
        padding == made.tile.row_padding.end() ? 0 : padding->second,
        SizeBytes(graph_.tensor(tensor).dtype), banks);
  };
  for (size_t m = 0; m < plan.members.members.size(); ++m) {
    const GpuMember& member = plan.members.members[m];
    const std::optional<WarpNest> nest =
        NestOf(static_cast<int>(m), made, work, plan);
    if (!nest) continue;
    for (const Read& read : reads.Of(member)) {
      if (read.shared) {
        cost.requested_turns[read.tensor] +=
            turns(*nest, read.tensor, read.index);
      } else {
        cost.requested_sectors[read.tensor] +=
            sectors(*nest, read.tensor, read.index,
                    levels_.near->read_transaction_bytes());
      }
    }
    const AffineIndex own =
        Identity(nest->tile.threads.size(), nest->extents.size());
    int64_t steps;
    AxesOf(static_cast<int>(m), work, plan.step, steps);
    const StoresOf stores(*nest, steps, member.grows_shared);
    if (member.output)
      cost.requested_sectors[member.id] +=
          stores.in_memory * sectors(*nest, member.id, own,
                                     levels_.near->write_transaction_bytes());
    if (member.shared)
      cost.requested_turns[member.id] +=
          stores.shared * turns(*nest, member.id, own);
  }
  // Nobody says how threads share copies: side by side, a step at a time.
  const int64_t turn_bytes = banks.count * banks.width_bytes;
  for (const SharedOperand& operand : plan.shared) {
    if (made.tile.divisions.count(operand.tensor) > 0) continue;
    int64_t steps = 1;
    for (size_t m = 0; m < plan.members.members.size(); ++m) {
      for (const GpuLoad& load : plan.members.members[m].loads)
        if (load.tensor == operand.tensor)
          AxesOf(static_cast<int>(m), work, plan.step, steps);
    }
    const int64_t bytes = Product(operand.extents) *
                          SizeBytes(graph_.tensor(operand.tensor).dtype);
    cost.requested_turns[operand.tensor] +=
        static_cast<double>(CeilDiv(bytes, turn_bytes) * steps * plan.blocks());
  }
}

}  // namespace tilewright

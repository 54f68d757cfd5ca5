// Tiles of several levels: tile, tile-fused, cache-write.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/derivation/pack_constants.h"
#include "sketch/derivation/tile_sizes.h"
#include "sketch/derivation/write_rules.h"

namespace tilewright::sketch {
namespace {

void Append(std::vector<Handle>& loops, const std::vector<Handle>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

// The loops of a block that computes spatial parts (levels first, ..., last)
// and both reduce parts: S.. R0 S R1 S with the last two spatial levels between
// and behind the reduce loops, as far as there are so many.
void ArrangeSums(Derivation& derivation, const LoopParts& spatial,
                 const LoopParts& reduce, const std::vector<int>& order,
                 size_t levels) {
  std::vector<Handle> loops;
  if (levels > 2) Append(loops, LevelsOf(spatial, order, 0, levels - 3));
  if (!reduce.empty()) Append(loops, LevelOf(reduce, 0));
  if (levels > 1)
    Append(loops, LevelsOf(spatial, order, levels - 2, levels - 2));
  if (!reduce.empty()) Append(loops, LevelOf(reduce, 1));
  Append(loops, LevelsOf(spatial, order, levels - 1, levels - 1));
  derivation.Reorder(loops);
}

// `target` stores or reads, element by element, what `block` computes; both are
// tiled alike. REQUIRES: neither's loops are cut, `target` was placed.
absl::Status TileWithTarget(Derivation& derivation, TensorId id,
                            const std::string& block, const std::string& target,
                            int level) {
  TW_ASSIGN_OR_RETURN(const AxisLoops outer, derivation.LoopsOf(target));
  TW_ASSIGN_OR_RETURN(const AxisLoops whole, derivation.LoopsOf(block));
  const TileSizes sizes = DecideTiles(
      derivation, {id, block, outer.spatial_extents, whole.reduce_extents});
  std::vector<Factors> factors;
  for (const Factors& f : sizes.spatial) {
    factors.push_back(level == 1 ? Factors{f[0], f[1] * f[2], f[3]} : f);
  }
  TW_ASSIGN_OR_RETURN(const LoopParts parts, derivation.Cut(target, factors));
  const std::vector<Handle> around =
      LevelsOf(parts, sizes.order, 0, static_cast<size_t>(level) - 1);
  std::vector<Handle> order = around;
  Append(order, LevelsOf(parts, sizes.order, level, factors[0].size() - 1));
  derivation.Reorder(order);
  const auto inner = std::find_if(around.rbegin(), around.rend(),
                                  [](Handle loop) { return loop >= 0; });
  derivation.writer().ComputeAt(
      whole.block, inner == around.rend() ? derivation.task() : *inner);

  TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
  std::vector<Factors> fitted;
  for (size_t i = 0; i < loops.spatial.size(); ++i) {
    Factors inside(sizes.spatial[i].begin() + level, sizes.spatial[i].end());
    fitted.push_back(FitFactors(loops.spatial_extents[i], inside));
  }
  const LoopParts spatial = derivation.Split(loops.spatial, fitted);
  const LoopParts reduce = derivation.Split(loops.reduce, sizes.reduce);
  ArrangeSums(derivation, spatial, reduce, sizes.order,
              static_cast<size_t>(kSpatialLevels - level));
  derivation.PreferRegisters(block);
  return PackConstantsOf(derivation, id, block, sizes);
}

int LevelOfVariant(std::string_view variant) { return variant == "1" ? 1 : 2; }

}  // namespace

absl::Status Settle(Derivation& derivation, TensorId id) {
  const std::string stored = derivation.StoringBlock(id);
  if (stored == derivation.Block(id) || derivation.state().IsOutput(id))
    return absl::OkStatus();
  ScheduleWriter& writer = derivation.writer();
  writer.ComputeInline(writer.Block(stored));
  return derivation.Replay();
}

absl::Status WriteTile(Derivation& derivation, TensorId id, std::string_view) {
  TW_RETURN_IF_ERROR(Settle(derivation, id));
  const std::string block = derivation.Block(id);
  if (derivation.StoringBlock(id) != block) {
    return absl::InvalidArgumentError(
        "tile: its accumulators are not what is stored");
  }
  TW_RETURN_IF_ERROR(derivation.Place(block, derivation.style().anywhere));
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
  const TileSizes sizes = DecideTiles(
      derivation, {id, block, loops.spatial_extents, loops.reduce_extents});
  TW_ASSIGN_OR_RETURN(const LoopParts spatial,
                      derivation.Cut(block, sizes.spatial));
  const LoopParts reduce =
      derivation.Split(derivation.ReduceLoops(block), sizes.reduce);
  ArrangeSums(derivation, spatial, reduce, sizes.order, kSpatialLevels);
  return PackConstantsOf(derivation, id, block, sizes);
}

absl::Status WriteTileFused(Derivation& derivation, TensorId id,
                            std::string_view variant) {
  TW_RETURN_IF_ERROR(Settle(derivation, id));
  const std::string target =
      derivation.Block(*derivation.state().FusedReader(id));
  TW_RETURN_IF_ERROR(derivation.Place(target, derivation.style().anywhere));
  return TileWithTarget(derivation, id, derivation.Block(id), target,
                        LevelOfVariant(variant));
}

absl::Status WriteCacheWrite(Derivation& derivation, TensorId id,
                             std::string_view variant) {
  TW_RETURN_IF_ERROR(Settle(derivation, id));
  const std::string block = derivation.Block(id);
  std::string target = derivation.StoringBlock(id);
  if (target == block) {
    // All of it is accumulated, and then copied.
    TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
    std::vector<Handle> order = loops.reduce;
    Append(order, loops.spatial);
    derivation.Reorder(order);
    derivation.writer().CacheWrite(loops.block, "scratch");
    TW_RETURN_IF_ERROR(derivation.Replay());
    target = derivation.StoringBlock(id);
  }
  TW_RETURN_IF_ERROR(derivation.Place(target, derivation.style().anywhere));
  return TileWithTarget(derivation, id, block, target, LevelOfVariant(variant));
}

}  // namespace tilewright::sketch

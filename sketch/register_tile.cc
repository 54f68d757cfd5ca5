#include "sketch/register_tile.h"

#include <algorithm>

namespace tilewright::sketch {
namespace {

// Two multiply-adds a cycle, four cycles each: fewer accumulators leave the units idle. A little slack beyond that.
constexpr double kAccumulatorsToHideLatency = 10;
// What one load, and one step of the loop around the tile, cost in multiply-adds.
constexpr double kLoadCost = 0.35;
constexpr double kStepCost = 1.5;
constexpr int64_t kMapVectors = 4;

// The share of a tile that is useful when `extent` is cut into pieces of `tile`.
double Utilization(int64_t extent, int64_t tile) {
  return static_cast<double>(extent) / static_cast<double>((extent + tile - 1) / tile * tile);
}

double Score(const TileSpace& space, const RegisterTile& tile) {
  const double rows = static_cast<double>(tile.rows * tile.outer_rows);
  const double vectors = static_cast<double>(tile.vectors * space.registers_per_unit);
  const double accumulators = rows * vectors;
  return Utilization(space.vectors, tile.vectors) * Utilization(space.rows, tile.rows) * Utilization(space.outer_rows, tile.outer_rows) *
         std::min(1.0, accumulators / kAccumulatorsToHideLatency) * accumulators / (accumulators + kLoadCost * (rows + vectors) + kStepCost);
}

}  // namespace

RegisterTile ChooseRegisterTile(const TileSpace& space) {
  if (!space.accumulates) return {std::min<int64_t>(space.vectors, std::max<int64_t>(1, kMapVectors / space.registers_per_unit)), 1, 1};
  RegisterTile best;
  double best_score = 0;
  for (const int64_t vectors : {8, 6, 4, 3, 2, 1}) {
    const int64_t held = vectors * space.registers_per_unit;
    if (vectors > space.vectors && vectors > 1) continue;
    // Accumulators, one vector of the loaded operand each, one broadcast.
    const int64_t most_rows = std::max<int64_t>(1, (space.registers - 1 - held) / held);
    for (int64_t rows = 1; rows <= std::min(most_rows, space.rows); ++rows) {
      const int64_t most_outer = rows == space.rows ? std::min(most_rows / rows, space.outer_rows) : 1;
      for (int64_t outer = 1; outer <= most_outer; ++outer) {
        const RegisterTile tile{vectors, rows, outer};
        const double score = Score(space, tile);
        if (score > best_score) best = tile, best_score = score;
      }
    }
  }
  return best;
}

}  // namespace tilewright::sketch

#include "tilegraph/plan/register_tile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// Two multiply-adds a cycle, four cycles each: fewer accumulators leave the
// units idle. A little slack beyond that.
constexpr double kAccumulatorsToHideLatency = 10;
// Costs of one load and of one step of the loop around the tile, in
// multiply-adds. Vectors come from the second-level cache, broadcasts from the
// first, unless rows lie pages apart and evict each other there.
constexpr double kVectorLoadCost = 0.6;
constexpr double kBroadcastCost = 0.3;
constexpr double kDistantBroadcastCost = 0.45;
constexpr double kStepCost = 1.5;

// Classes with so many registers (AVX-512) broadcast inside a multiply-add.
// Below, each broadcast is a load, and loads bound a tile as multiply-adds do:
// 1 x 14 runs at 0.6 of 2 x 6's rate. Beyond the bound they cost little.
constexpr int kManyRegisters = 32;
constexpr double kLoadBound = 1.5;
constexpr double kLoadBeside = 0.1;

// Cost of beginning a parallel kernel, in multiply-adds of vectors. It is an
// estimate that was never measured: about half a microsecond.
constexpr double kWakeCost = 4000;

// Multiply-adds' worth of time that one step of the reduction takes for one
// tile.
double StepCostOfTile(const TileSpace& space, const RegisterTile& tile) {
  const double rows = static_cast<double>(tile.rows * tile.outer_rows),
               vectors =
                   static_cast<double>(tile.vectors * space.registers_per_unit);
  const double least = std::max(rows * vectors, kAccumulatorsToHideLatency);
  if (space.registers < kManyRegisters) {
    const double loads = rows + vectors;
    return std::max(least, kLoadBound * loads) + kLoadBeside * loads +
           kStepCost;
  }
  const double broadcast =
      space.rows_far_apart ? kDistantBroadcastCost : kBroadcastCost;
  return least + broadcast * rows + kVectorLoadCost * vectors + kStepCost;
}

double StepsLeft(const TileSpace& space, const RegisterTile& tile) {
  return space.steps_left ? space.steps_left(tile.rows) : 1;
}

// The same over the whole space, one tile after the other.
double StepCost(const TileSpace& space, const RegisterTile& tile) {
  double cost = 0;
  for (const auto& [one, count] :
       TilesOf({space.vectors, space.rows, space.outer_rows}, tile))
    cost += static_cast<double>(count) * StepCostOfTile(space, one);
  return cost * StepsLeft(space, tile);
}

// The tile with the least cost, of those that fit and are allowed.
template <typename Cost>
RegisterTile Cheapest(const TileSpace& space, Cost cost_of) {
  RegisterTile best;
  double least_cost = std::numeric_limits<double>::infinity();
  std::vector<int64_t> widths = {8, 6, 4, 3, 2, 1};
  if (space.allowed) widths.push_back(space.vectors);
  for (const int64_t vectors : widths) {
    const int64_t held = vectors * space.registers_per_unit;
    if (vectors > space.vectors && vectors > 1) continue;
    const int64_t left = space.registers - space.registers_beside -
                         space.registers_per_load * held;
    // Where not even one row fits, narrower tiles spill less; but a stage may
    // need all of its vectors.
    if (left < held && vectors > 1 && space.registers < kManyRegisters &&
        !space.allowed)
      continue;
    const int64_t most_rows = std::max<int64_t>(1, left / held);
    for (int64_t rows = 1; rows <= std::min(most_rows, space.rows); ++rows) {
      const int64_t most_outer =
          rows == space.rows ? std::min(most_rows / rows, space.outer_rows) : 1;
      for (int64_t outer = 1; outer <= most_outer; ++outer) {
        const RegisterTile tile{vectors, rows, outer};
        if (CountTiles(space, tile) < space.least_tiles ||
            (space.allowed && !space.allowed(tile)))
          continue;
        const double cost = cost_of(tile);
        if (cost < least_cost) best = tile, least_cost = cost;
      }
    }
  }
  return best;
}

}  // namespace

int64_t CountTiles(const TileSpace& space, const RegisterTile& tile) {
  return CeilDiv(space.vectors, tile.vectors) * CeilDiv(space.rows, tile.rows) *
         CeilDiv(space.outer_rows, tile.outer_rows);
}

absl::InlinedVector<CountedTile, 8> TilesOf(const RegisterTile& space,
                                            const RegisterTile& tile) {
  struct Cut {
    int64_t count, size;
  };
  const auto cuts = [](int64_t extent, int64_t size) {
    const int64_t rest = extent % size;
    return std::array<Cut, 2>{
        {{extent / size, size}, {rest == 0 ? 0 : 1, rest}}};
  };
  absl::InlinedVector<CountedTile, 8> tiles;
  for (const Cut& v : cuts(space.vectors, tile.vectors)) {
    for (const Cut& r : cuts(space.rows, tile.rows)) {
      for (const Cut& o : cuts(space.outer_rows, tile.outer_rows)) {
        const int64_t count = v.count * r.count * o.count;
        if (count > 0) tiles.push_back({{v.size, r.size, o.size}, count});
      }
    }
  }
  return tiles;
}

RegisterTile ChooseRegisterTile(const TileSpace& space) {
  return Cheapest(
      space, [&](const RegisterTile& tile) { return StepCost(space, tile); });
}

double SlowdownOfAllowed(const TileSpace& space) {
  if (!space.allowed) return 1;
  TileSpace free = space;
  free.allowed = nullptr;
  const double best = StepCost(space, ChooseRegisterTile(free)),
               allowed = StepCost(space, ChooseRegisterTile(space));
  return std::max(1.0, allowed / best);
}

bool StaysInside(int64_t size, int64_t extent) {
  if (size >= extent || extent % size == 0) return true;
  // With a halo an extent may be 29: a little more is computed instead.
  for (int64_t divisor = 4; divisor <= 14; ++divisor) {
    if (extent % divisor == 0) return false;
  }
  return extent > 14 && (size - extent % size) * 8 <= extent;
}

bool LeavesCoresIdle(int64_t tiles, const TileTasks& tasks) {
  return tasks.cores > kFewCores && tiles * tasks.others < tasks.cores;
}

double CostOnCores(int64_t tiles, const TileTasks& tasks, double step_cost) {
  const int64_t all = tiles * tasks.others;
  const int64_t steps = CeilDiv(all, tasks.cores) * tasks.steps;
  return static_cast<double>(steps) * step_cost + (all > 1 ? kWakeCost : 0);
}

RegisterTile ChooseRegisterTile(const TileSpace& space,
                                const TileTasks& tasks) {
  const RegisterTile alone = ChooseRegisterTile(space);
  if (!LeavesCoresIdle(CountTiles(space, alone), tasks)) return alone;
  const auto time_of = [&](const RegisterTile& tile) {
    return CostOnCores(CountTiles(space, tile), tasks,
                       StepCostOfTile(space, tile) * StepsLeft(space, tile));
  };
  const RegisterTile many = Cheapest(space, time_of);
  return time_of(many) < time_of(alone) ? many : alone;
}

}  // namespace tilewright

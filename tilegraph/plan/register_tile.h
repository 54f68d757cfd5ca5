// The choice of a register tile: rows × vectors of accumulators of a reduction,
// which loads vectors of one operand and broadcasts the other. Rules of
// schedules choose by it (sketch/rules), and the cost model tells by it what a
// tile of a fused group costs its stages.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_REGISTER_TILE_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_REGISTER_TILE_H_

#include <cstdint>
#include <functional>

#include "absl/container/inlined_vector.h"

namespace tilewright {

struct RegisterTile {
  int64_t vectors = 1;
  int64_t rows = 1;
  int64_t outer_rows = 1;  // above 1 only if rows == TileSpace::rows
};

// The extents to tile. Those of absent axes are 1.
struct TileSpace {
  int64_t vectors;     // along the vector axis, in units of one vector (or one
                       // channel block)
  int64_t rows;        // extent of the axis that gives rows first
  int64_t outer_rows;  // extent of the axis that gives further rows once `rows`
                       // is taken whole
  int registers;       // architectural vector registers
  int registers_per_unit;  // vector registers that one unit of `vectors` fills
  bool rows_far_apart = false;  // neighbouring rows of the broadcast operand
                                // lie a page or more apart
  // Vectors held for each vector of the loaded operand, and for what is
  // broadcast and computed beside it.
  int registers_per_load = 1;
  int registers_beside = 1;
  // Whether a tile may be; unset: all may. All vectors × one row always may.
  std::function<bool(const RegisterTile&)> allowed;
  int64_t least_tiles = 1;  // that a tile cuts the space into
  // The share of the reduction's steps that tiles of so many `rows` take;
  // unset: all of them.
  std::function<double(int64_t rows)> steps_left;
};

int64_t CountTiles(const TileSpace& space, const RegisterTile& tile);

struct CountedTile {
  RegisterTile tile;
  int64_t count;
};
// The tiles that `tile` cuts a space of such extents into: whole ones, and
// those that end with the space. None occurs twice.
absl::InlinedVector<CountedTile, 8> TilesOf(const RegisterTile& space,
                                            const RegisterTile& tile);

// The tile with the least modelled time over the whole space.
RegisterTile ChooseRegisterTile(const TileSpace& space);
// How many times as long as in the best of all tiles the space takes in the
// best of those that are allowed; at least 1.
double SlowdownOfAllowed(const TileSpace& space);

// Whether register tiles of `size` along a dimension stay inside the `extent`
// of it that a task of a fused group computes, where other tasks compute other
// parts: only the end of a tensor stops one.
bool StaysInside(int64_t size, int64_t extent);

// Who computes the tiles of a kernel, all of which may be tasks.
struct TileTasks {
  int64_t others = 1;  // tiles along axes that the space does not have
  int64_t cores = 1;
  int64_t steps = 1;  // of the reduction
};
// With more cores than these, a kernel is cut up rather than leave cores
// without work.
inline constexpr int64_t kFewCores = 8;
// Whether so many tiles of the space leave some of many cores without work.
bool LeavesCoresIdle(int64_t tiles, const TileTasks& tasks);
// Multiply-adds of vectors until the last core is done, where one tile of the
// space takes `tasks.steps` times `step_cost`.
double CostOnCores(int64_t tiles, const TileTasks& tasks, double step_cost);
// The tile with the least modelled time; but where that leaves some of many
// cores without a tile, the one with the least time until the last core is
// done.
RegisterTile ChooseRegisterTile(const TileSpace& space, const TileTasks& tasks);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_REGISTER_TILE_H_

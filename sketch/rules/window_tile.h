// The choice of a register tile for sliding windows: how many outputs are
// accumulated side by side, and how many window positions (taps) are unrolled,
// so that overlapping windows share what they load.
#ifndef TILEWRIGHT_SKETCH_RULES_WINDOW_TILE_H_
#define TILEWRIGHT_SKETCH_RULES_WINDOW_TILE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {

// A load of the reduction: for each dimension of its index the axes that move
// it, and by how much. Axes are numbered as below.
struct WindowAccess {
  struct Term {
    int axis;
    int64_t stride;
    // Units of the vector axis side by side that see the same element (channels
    // of one group).
    int64_t shared = 1;
  };
  std::vector<std::vector<Term>> dims;
  double work = 1;  // of one load, in plain loads: shuffles take more
};

// Axis 0 is the vector axis, 1 the rows, 2 the outer rows, 3 + i the reduce
// axis i, outermost first.
inline constexpr int kVectorAxis = 0, kRowAxis = 1, kOuterRowAxis = 2,
                     kFirstReduceAxis = 3;

struct WindowTile {
  int64_t vectors = 1;
  int64_t rows = 1;
  int64_t outer_rows = 1;
  // By reduce axis, how many of its steps are unrolled: 1, a part or all.
  std::vector<int64_t> unrolled;
};

struct WindowSpace {
  int64_t vectors = 1;  // in units of one vector, or one channel block
  int64_t rows = 1;
  int64_t outer_rows = 1;
  std::vector<int64_t> reduce;  // extents
  std::vector<WindowAccess> accesses;
  int registers = 32;          // architectural vector registers
  int registers_per_unit = 1;  // that one unit of `vectors` fills
  bool guarded = false;        // what lies outside the image is asked for
  int temporaries = 0;    // registers that one combination needs for itself
  double operations = 1;  // instructions of one combination
  // Whether a tile may be; unset: all may.
  std::function<bool(const WindowTile&)> allowed;
  // Registers of outputs that the choice fills at most, of several rows.
  int64_t most_outputs = INT64_MAX;
  int64_t least_tiles = 1;  // that a tile cuts the space into
  // Of equal costs, longer rows are preferred: stores past the caches in runs
  // of two lines take longer than in runs of four.
  bool long_runs = false;
};

// Counts the tiles of such vectors, rows and outer rows.
int64_t CountTiles(const WindowSpace& space, const WindowTile& tile);

// Whether the tile's accumulators, and the operands that all its rows share,
// fit the registers.
bool FitsRegisters(const WindowSpace& space, const WindowTile& tile);

// The tile with the least estimated time per output, of those that fit and are
// allowed; if there is none, one unit wide without unrolled taps.
WindowTile ChooseWindowTile(const WindowSpace& space);
// The same where so many taps are unrolled.
WindowTile ChooseWindowTile(const WindowSpace& space,
                            const std::vector<int64_t>& unrolled);
// `tile`, the choice so far; but where it leaves some of many cores without a
// tile, the one with the same taps and the least estimated time until the last
// core is done.
WindowTile ShareWindowTiles(const WindowSpace& space, const TileTasks& tasks,
                            const WindowTile& tile);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINDOW_TILE_H_

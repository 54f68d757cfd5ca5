#include "sketch/rules/winograd_tasks.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {
namespace {

// Tiles of one task: enough for its filters, which it reads once, to come from
// memory as fast as they are multiplied (16 floats per cycle of 32
// multiply-adds and tile); few enough for its V to stay in the second-level
// cache.
constexpr int64_t kTilesPerTask = 28;
// The share of their time that cores may be without a task at the end.
constexpr double kMostIdle = 0.1;

// The share of the time that cores wait for the last of equal tasks.
double IdleShare(int64_t tasks, int64_t cores) {
  return 1 - static_cast<double>(tasks) /
                 static_cast<double>(CeilDiv(tasks, cores) * cores);
}

}  // namespace

WinogradTask ChooseWinogradTask(const WinogradTiles2d& tiles, int64_t cores) {
  int64_t bands =
      CeilDiv(tiles.rows, std::max<int64_t>(1, kTilesPerTask / tiles.columns));
  int64_t rows = CeilDiv(tiles.rows, bands);
  const int64_t wanted = 2 * cores;
  const auto tasks = [&](int64_t vectors) {
    return bands * tiles.images * CeilDiv(tiles.vectors, vectors);
  };
  int64_t vectors = tiles.vectors;
  while (vectors > 1 && (tasks(vectors) < wanted ||
                         IdleShare(tasks(vectors), cores) > kMostIdle))
    vectors = CeilDiv(vectors, 2);
  if (cores > kFewCores && tasks(vectors) < wanted) {
    bands = std::min(tiles.rows, CeilDiv(wanted, tasks(vectors) / bands));
    rows = tiles.rows / bands;
  }
  return {rows, vectors};
}

}  // namespace tilewright::sketch

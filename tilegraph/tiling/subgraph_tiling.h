// SubGraphTiling (Welder, figure 7): tiles of a subgraph for every memory
// level, from the outermost inwards. At each level tiles are grown from one
// element as far as they pay, the best few are kept, and what stays together
// further in is tiled within each of them.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_SUBGRAPH_TILING_H_
#define TILEWRIGHT_TILEGRAPH_TILING_SUBGRAPH_TILING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/tiling/mem_traffic.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {

// Tiles of one part at one level: they live in spec.levels(level + 1), and
// `cost` is what crosses between that level and spec.levels(level). With the
// parts further in, which these tiles hold.
struct TilePlan {
  int level = 0;
  Subgraph part;
  LevelTiles tiles;
  LevelCost cost;
  std::vector<TilePlan> inner;
  // How often the part is computed where tiles further out overlap: 1 or more.
  double times = 1;
};

// What a plan costs on the whole device.
struct PlanCost {
  double flops = 0;                    // with what is computed repeatedly
  std::vector<double> bytes_by_level;  // across spec.levels(i) and (i + 1)
  double tasks = 1;                    // outermost tiles
  bool fits = true;
  // max(flops / peak, bytes / bandwidth over the levels), times the unevenness
  // of the tasks over the cores, and the launch (design: planning.md, "Cost").
  double seconds = 0;
};
PlanCost CostOf(const TilePlan& plan, const DeviceSpec& spec);

struct TilingOptions {
  TrafficOptions traffic;
  // Plans returned, and kept at the outermost level; half as many at each one
  // further in.
  int best = 8;
  // Tiles looked at per part at the outermost level, half as many at each one
  // further in; 256 in a row that are no better end the search.
  int visits = 2000;
  // Levels that are planned: up to spec.levels(levels). 0: all but registers,
  // whose tiles schedules choose.
  int levels = 0;
  // Welder's key: bytes across the level, and then seconds.
  bool by_traffic = false;
};

// How many levels below the outermost are planned.
int PlannedLevels(const DeviceSpec& spec, const TilingOptions& options);

// Best first, at least one, none of which overflows a level unless all do.
// `part` is one of graph.Parts(0). Errors as of WorkOfTiles.
absl::StatusOr<std::vector<TilePlan>> TileSubgraph(
    const TileGraph& graph, const Subgraph& part, const DeviceSpec& spec,
    const TilingOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_SUBGRAPH_TILING_H_

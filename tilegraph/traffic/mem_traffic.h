// MemTraffic and MemFootprint (Welder, section 3.2): the bytes that cross from
// one memory level to the next inner one while all tiles of a subgraph are
// computed, and the room that one tile takes there.
//
// A scratchpad is filled by the program: every tile loads its inputs and stores
// its outputs. A cache keeps what it held: an operand is read again only if its
// region has changed since the tile before, or was driven out meanwhile
// (design: planning.md).
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_MEM_TRAFFIC_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_MEM_TRAFFIC_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/ir/arena.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/traffic/tile_graph.h"
#include "tilegraph/traffic/tile_work.h"

namespace tilewright {

// The tiles that one level holds, and the order in which they are computed.
struct LevelTiles {
  TileShape tile;
  std::vector<int> order;  // dimensions of the outputs, outermost loop first
};

struct LevelCost {
  double read_bytes = 0, write_bytes = 0;  // from and to the outer level
  // In the inner level: operands, intermediate tiles and results of one tile.
  int64_t footprint_bytes = 0;
  bool fits = false;  // into the share of the capacity that may be planned with
  double flops = 0;   // of all tiles, with what is computed repeatedly
  int64_t tiles = 1;

  double bytes() const { return read_bytes + write_bytes; }
};

// The same, operand by operand.
struct LevelTraffic {
  // In the order of TileWork's: what comes in of inputs, what is written of
  // outputs; of intermediate tiles that do not stay what is written, and as
  // much comes in twice, to be written and to be read.
  std::vector<double> inputs, outputs, inside;
  double inside_once = 0;  // comes in: memory of those that stay
  // By member of TrafficOptions::side_outputs: what is written of it, as of an
  // output.
  std::map<TensorId, double> side_outputs;
};

struct TrafficOptions {
  std::map<TensorId, Layout> layouts;  // of tensors that are not plain
  // Members of which tiles are never in memory: kernels keep them in registers.
  std::set<TensorId> in_registers;
  // Members that are written to memory as outputs are, tile by tile.
  std::set<TensorId> side_outputs;
  // Steps in which members' reductions are taken wherever tiles are
  // (TileShape): what is inside is no larger than a step needs.
  std::map<TensorId, std::vector<int64_t>> reduce_steps;
  // Stores bypass the cache. Otherwise a line is read before it is written.
  bool streaming_stores = false;
};

// Share of a cache that tiles may fill, of whatever device: the rest is for
// what comes by. A rule of the design (planning.md).
inline constexpr double kPlannedCacheShare = 0.75;

// Results of one subgraph between two levels; remembers what tiles touch, so
// that many tiles are compared quickly. Not thread-safe.
class MemTraffic {
 public:
  // All must outlive it but `options`.
  MemTraffic(const TileGraph& graph, const Subgraph& part,
             const MemoryLevel& outer, const MemoryLevel& inner,
             TrafficOptions options);
  // The same part into another level: shares what `other` knows of its tiles.
  // REQUIRES: transactions from there are those of other's outer level.
  MemTraffic(const MemTraffic& other, const MemoryLevel& inner);

  // Tiles of `tiles` inside tiles of `within`, the level above (the whole
  // outputs at the outermost). Errors as of TileWorks.
  absl::StatusOr<LevelCost> Cost(const LevelTiles& tiles,
                                 const std::vector<int64_t>& within);

  absl::StatusOr<LevelTraffic> ByOperand(const LevelTiles& tiles,
                                         const std::vector<int64_t>& within);
  // The regions that tiles touch; stays valid.
  absl::StatusOr<const TileWork*> WorkOf(const std::vector<int64_t>& spatial);

  // Bytes of each input that a step of such a tile needs; stays valid.
  absl::StatusOr<absl::Span<const int64_t>> StepBytes(
      const std::vector<int64_t>& spatial);

  // The part of Cost's answer that no order of the tiles changes.
  struct Footprint {
    int64_t bytes;
    bool fits;
  };
  absl::StatusOr<Footprint> FootprintOf(const TileShape& tile);

 private:
  struct Known {
    TileWork work;
    std::vector<int64_t> input_step_bytes;
    double inside_line_bytes;
  };
  // The known tiles of a part, between whatever levels.
  struct Part {
    Part(const TileGraph& graph, const Subgraph& part, const MemoryLevel& outer,
         TrafficOptions options);
    absl::StatusOr<const Known*> Work(const std::vector<int64_t>& spatial);
    // Adds what a step needs of what tiles are otherwise known to need.
    absl::Status AddSteps(const std::vector<int64_t>& spatial, Known& tile);

    const TrafficOptions options;
    TileWorks works;
    // Buffers of a tile in a scratchpad, operands in the order of TileWork:
    // inputs, inside, outputs; sizes are set for every tile.
    std::vector<BufferLifetime> buffers;
    // By spatial extents; looked up only.
    absl::node_hash_map<std::vector<int64_t>, Known> known;
  };
  // Tiles with some of their dimensions as large as the level above: bit d of
  // the index for dimension d. Null as long as nobody asks.
  using Covered = std::vector<const Known*>;

  absl::StatusOr<LevelTraffic> CacheTraffic(const LevelTiles& tiles,
                                            const std::vector<int64_t>& within,
                                            Covered& covered);

  const std::shared_ptr<Part> part_;
  const MemoryLevel& inner_;
  std::map<
      std::pair<std::vector<int64_t>, std::map<TensorId, std::vector<int64_t>>>,
      Footprint>
      footprints_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_MEM_TRAFFIC_H_

// Counts what one tile of a subgraph reads, writes and computes: Propagate
// applied to the tile of its outputs (Welder, section 3.1).
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_WORK_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_WORK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// Extents of a tile. Tiles lie side by side from the origin; the last may be
// partial.
struct TileShape {
  // By dimension of the outputs, which all have the same shape.
  std::vector<int64_t> spatial;
  // By reduce axis of the members listed: a tile is computed in steps of that
  // size, what the others reduce over is taken whole.
  std::map<TensorId, std::vector<int64_t>> reduce;

  friend bool operator==(const TileShape& a, const TileShape& b) {
    return a.spatial == b.spatial && a.reduce == b.reduce;
  }
};

// A tensor as a tile sees it.
struct TileOperand {
  TensorId tensor;
  // Extents that a step of the reduction needs in a whole tile, per dimension.
  std::vector<int64_t> extents;
  int64_t step_bytes = 0;  // of such a region
  // Bytes that all tiles together touch, each for itself: regions clipped to
  // the tensor, summed over tiles.
  double total_bytes = 0;
  double total_moved_bytes = 0;  // the same in whole transactions
  // Bytes of the transactions that move the region of a whole tile, over its
  // own.
  double rounding = 1;
  // Whether the region moves from one tile to the next along each dimension.
  absl::InlinedVector<bool, 4> varies;
  // Where it does, which digit of the layout it enters; -1 where it stays.
  absl::InlinedVector<int, 4> moved_digit;

  // Bytes that all tiles of TileWork::classes touch, by class.
  struct OfClass {
    double bytes = 0;
    // Bytes moved over `bytes`, as TransactionRounding (transactions.h) says.
    absl::InlinedVector<double, 6> rounding;
  };
  std::vector<OfClass> classes;
};

// Tiles that are partial along the dimensions whose bits are set, and whole
// along the others.
struct TileClass {
  uint32_t partial = 0;
  double tiles = 1;
};

struct TileWork {
  std::vector<int64_t> trips;  // tiles per dimension
  int64_t tiles = 1;           // their product
  std::vector<TileClass> classes;
  std::vector<TileOperand> inputs, outputs;
  std::vector<TileOperand> inside;  // members that are no outputs
  // Operations of all tiles, elements computed more than once counted each
  // time.
  double flops = 0;
};

struct TileWorkOptions {
  // Bytes that move together, from multiples of their number on; 1: no
  // rounding.
  int64_t read_transaction_bytes = 1, write_transaction_bytes = 1;
  // Layouts of tensors that are not plain.
  std::map<TensorId, Layout> layouts;
};

// Tiles of one part, any number of them. Not thread-safe.
class TileWorks {
 public:
  // `graph` and `part` must outlive it.
  TileWorks(const TileGraph& graph, const Subgraph& part,
            TileWorkOptions options);
  ~TileWorks();

  // InvalidArgument if outputs differ in shape or a tile has the wrong rank or
  // is empty.
  absl::StatusOr<TileWork> Of(const TileShape& tile);
  // What a step needs of each of part.inputs, then of each of part.members.
  struct Step {
    TensorId tensor;
    std::vector<int64_t> extents;
    int64_t bytes = 0;
  };
  absl::StatusOr<std::vector<Step>> StepsOf(const TileShape& tile);

 private:
  class Counter;
  std::unique_ptr<Counter> counter_;
};

// The work of a single tile shape. Errors as of TileWorks.
absl::StatusOr<TileWork> WorkOfTiles(const TileGraph& graph,
                                     const Subgraph& part,
                                     const TileShape& tile,
                                     const TileWorkOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_WORK_H_

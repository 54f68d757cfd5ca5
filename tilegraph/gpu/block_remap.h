// Which block computes what of a compute between: the grid is that of the
// outputs, and a member that transposes or reshapes on the way has its tiles at
// other indices (Welder section 4.2, blockIdx remapping). Derived from where
// Propagate puts its tiles.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_BLOCK_REMAP_H_
#define TILEWRIGHT_TILEGRAPH_GPU_BLOCK_REMAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

struct BlockRemap {
  struct Dim {
    int grid_dim = -1;   // -1: the tile stays where it is
    int64_t blocks = 0;  // that one block of the grid moves it by, in tiles
  };
  std::vector<Dim> dims;      // of the member
  std::vector<int64_t> tile;  // of the member
  // Whether tiles of different blocks neither overlap nor leave gaps, up to the
  // member's end: then it can be written to memory from here, each element
  // once. Blocks along grid dims that move nothing compute the same tile again;
  // the one at index 0 writes.
  bool partitions = true;
};

// For `member` of `part` and tiles `tile` of its outputs. FailedPrecondition
// if its tiles do not lie at multiples of the blocks' indices (a shift, an
// index that is not affine). InvalidArgument if it is no member.
absl::StatusOr<BlockRemap> RemapOf(const TensorGraph& graph,
                                   const Subgraph& part,
                                   const std::vector<int64_t>& tile,
                                   TensorId member);

// "[b1, b0, 0]" with the grid's indices; "b0*2" where a block moves it further.
std::string ToString(const BlockRemap& remap);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_BLOCK_REMAP_H_

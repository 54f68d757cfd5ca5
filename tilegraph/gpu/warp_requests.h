// What warps ask of a memory, access by access and lane by lane: sectors of an
// operand that is read where it lies, turns of the banks of one in the
// scratchpad. What an L1 holds is asked for all the same.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_WARP_REQUESTS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_WARP_REQUESTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tilegraph/gpu/hardware/thread_tile.h"
#include "tilegraph/gpu/hardware/warp_access.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// An index of a tensor that is affine in the axes of a compute, spatial ones
// first.
struct AffineIndex {
  std::vector<int64_t> base;                // by dimension
  std::vector<std::vector<int64_t>> moves;  // by axis, then by dimension
};
// nullopt if the load's is not, or depends on data.
std::optional<AffineIndex> AffineIndexOf(const Compute& compute,
                                         const Expr& load);
// The index in the axes of who reads at `outer` what is itself read at `inner`.
AffineIndex Through(const AffineIndex& outer, const AffineIndex& inner);

// The threads of all blocks over a compute. Lanes that share a sum take
// neighbours along its longest axis.
struct WarpNest {
  std::vector<int64_t> shape;    // of all axes, spatial ones first
  std::vector<int64_t> extents;  // of a block's tile along them
  std::vector<int64_t> grid;     // blocks along the spatial ones; none: one
  int64_t times = 1;             // that all this is done
  ThreadTile tile;
  int64_t threads = 0;  // of a block
};

// Of all accesses of all blocks to a tensor that lies so. A term or element
// that does not move the index is none of its own, and elements outside the
// tensor and its halo are not read. Layouts but of one digit a dimension count
// as plain. Exact up to `kExactAccesses` accesses, a sample of as many beyond.
constexpr int64_t kExactAccesses = 256;
double RequestedSectors(const WarpNest& nest, const AffineIndex& index,
                        const Layout& layout, int64_t element_bytes,
                        int64_t sector_bytes);

// The same for a part of a tensor in the scratchpad, with `row_padding`
// elements behind each row. The index counts from the first element that the
// block's tile touches.
double RequestedTurns(const WarpNest& nest, const AffineIndex& index,
                      const std::vector<int64_t>& extents, int64_t row_padding,
                      int64_t element_bytes, const Banks& banks);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_WARP_REQUESTS_H_

// In which order the blocks of a grid run: numbers that are close run at the
// same time, and what they share comes from memory once.
//
// Row-major order makes blocks of one row share the row's operand alone. In
// panels of w columns a wave of W blocks covers W / w rows of w: both operands
// are shared, best near w = sqrt(W) for operands of equal size (source: the
// rasterisation of CUTLASS and BitBLAS).
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BLOCK_ORDER_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BLOCK_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tilewright {

struct BlockOrder {
  std::vector<int> dims;  // of the grid, outermost first
  // Blocks of the last dim that run before the dim before it takes its next
  // step; 0: no panels. The last panel may be narrower.
  int64_t panel = 0;
};

// Where block `number` is in the grid. A bijection of [0, blocks).
std::vector<int64_t> BlockAt(const BlockOrder& order,
                             absl::Span<const int64_t> grid, int64_t number);

// An operand of the blocks.
struct BlockOperand {
  double tile_bytes = 0;     // of one block
  std::vector<bool> varies;  // by dim of the grid: whether the tile moves
};

// Tiles of an operand that the first `wave` blocks touch, counting those that
// are the same once. The last block of the wave's outermost loop counts as
// whole.
double TilesOfWave(const BlockOrder& order, absl::Span<const int64_t> grid,
                   const BlockOperand& operand, int64_t wave);

// Bytes that come from memory into a cache of `cache_bytes` for all blocks, run
// in waves: every tile once if all fit; else what a wave touches, times how
// often the loops around it move it, as long as two waves fit, and in each wave
// if they do not.
double BytesOfWaves(const BlockOrder& order, absl::Span<const int64_t> grid,
                    absl::Span<const BlockOperand> operands, int64_t wave,
                    double cache_bytes);

// The order with the fewest BytesOfWaves; row-major among equals, then fewer
// panels.
BlockOrder BestBlockOrder(absl::Span<const int64_t> grid,
                          absl::Span<const BlockOperand> operands, int64_t wave,
                          double cache_bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BLOCK_ORDER_H_

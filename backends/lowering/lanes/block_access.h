// A block of elements, one row per position and one column per lane, read from
// or written to memory as whole vectors wherever its elements lie side by side:
// transposed, interleaved, with a stride, in reverse.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_LANES_BLOCK_ACCESS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_LANES_BLOCK_ACCESS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/lowering/lanes/lane_moves.h"

namespace tilewright::lowering {

// Where the elements of a block lie, in elements from any common origin; one
// row per vector of the block. nullopt: a lane nobody asks for.
using BlockOffsets = std::vector<std::vector<std::optional<int64_t>>>;

struct BlockAccess {
  // A vector of memory: `lanes` elements from `offset` on, of which the first
  // `active` are touched.
  struct Piece {
    int64_t offset;
    int active;
  };
  int lanes = 0;
  std::vector<Piece> pieces;
  // Loads: from the pieces to the block's vectors. Stores: from the block's
  // vectors to the pieces.
  LaneMoves moves;

  // In vector operations.
  int cost() const {
    return static_cast<int>(pieces.size() + moves.steps.size());
  }
};

// Vectors of at most `max_lanes`. Loads touch nothing before the first or
// beyond the last element of the block, but may touch what lies in between;
// stores touch the elements of the block alone. nullopt: there is no such way,
// or none worth it.
std::optional<BlockAccess> PlanBlockLoad(const BlockOffsets& offsets,
                                         int64_t element_bytes, int max_lanes);
std::optional<BlockAccess> PlanBlockStore(const BlockOffsets& offsets,
                                          int64_t element_bytes, int max_lanes);

// The offsets of a block whose rows are `row_stride` apart and whose lanes
// `lane_stride`; the first `active` lanes are asked for.
BlockOffsets StridedBlock(int rows, int lanes, int active, int64_t row_stride,
                          int64_t lane_stride);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_LANES_BLOCK_ACCESS_H_

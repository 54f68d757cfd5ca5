// Where rows of a tile lie in a scratchpad so that accesses meet no bank
// conflicts: with elements left free after each row (padding), or with the
// places of a row exchanged by an exclusive or with the row (swizzle).
//
// Padding costs bytes and keeps rows plain; a swizzle costs none but needs rows
// of as many chunks as it exchanges (sources: Welder section 4.2, padding;
// CUTLASS, Swizzle<B, M, S>).
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BANK_LAYOUT_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BANK_LAYOUT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/gpu/hardware/warp_access.h"

namespace tilewright {

// A tile, dimensions but the last folded into rows.
struct TileRows {
  int64_t rows = 1;
  int64_t row_elements = 1;
  int64_t element_bytes = 4;
};

struct BankLayout {
  int64_t pad_elements = 0;  // after each row
  // Chunk c of row r lies at place c xor (r / rows_per_step mod steps).
  // REQUIRES: steps is a power of two and divides the chunks of a row.
  int64_t chunk_elements = 1;
  int64_t steps = 1;  // 1: no swizzle
  int64_t rows_per_step = 1;

  bool swizzled() const { return steps > 1; }
  // In elements.
  int64_t Offset(const TileRows& tile, int64_t row, int64_t column) const;
  int64_t Bytes(const TileRows& tile) const;
};

// The elements a warp reads or writes at once.
struct RowAccess {
  static constexpr int64_t kIdle = -1;
  std::vector<std::pair<int64_t, int64_t>> lanes;  // (row or kIdle, column)
  int64_t elements = 1;  // of each lane, side by side in one row
};

// Passes that all accesses take in `layout`.
int64_t PassesOf(const TileRows& tile, const BankLayout& layout,
                 absl::Span<const RowAccess> accesses, const Banks& banks);
int64_t LeastPassesOf(const TileRows& tile,
                      absl::Span<const RowAccess> accesses, const Banks& banks);

// The padding with which rows begin at multiples of `chunk_elements` (what
// lanes move at once is aligned) that has the fewest passes and, among those,
// bytes.
BankLayout BestPadding(const TileRows& tile,
                       absl::Span<const RowAccess> accesses,
                       int64_t chunk_elements, const Banks& banks);

// The same among plain rows, paddings and swizzles of such chunks; plain before
// padded before swizzled among equals. REQUIRES: lanes move at most a chunk,
// and none across chunks.
BankLayout BestBankLayout(const TileRows& tile,
                          absl::Span<const RowAccess> accesses,
                          int64_t chunk_elements, const Banks& banks);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_BANK_LAYOUT_H_

#include "tilegraph/gpu/hardware/bank_layout.h"

#include <algorithm>
#include <numeric>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

WarpAccess InBytes(const TileRows& tile, const BankLayout& layout,
                   const RowAccess& access) {
  WarpAccess bytes;
  bytes.bytes = access.elements * tile.element_bytes;
  for (const auto& [row, column] : access.lanes) {
    bytes.offset_bytes.push_back(row == RowAccess::kIdle
                                     ? WarpAccess::kIdle
                                     : layout.Offset(tile, row, column) *
                                           tile.element_bytes);
  }
  return bytes;
}

// Fewer passes first, then fewer bytes.
std::pair<int64_t, int64_t> Key(const TileRows& tile, const BankLayout& layout,
                                absl::Span<const RowAccess> accesses,
                                const Banks& banks) {
  return {PassesOf(tile, layout, accesses, banks), layout.Bytes(tile)};
}

}  // namespace

int64_t BankLayout::Offset(const TileRows& tile, int64_t row,
                           int64_t column) const {
  const int64_t chunk = column / chunk_elements;
  const int64_t place = chunk ^ (row / rows_per_step % steps);
  return row * (tile.row_elements + pad_elements) + place * chunk_elements +
         column % chunk_elements;
}

int64_t BankLayout::Bytes(const TileRows& tile) const {
  return (tile.rows * (tile.row_elements + pad_elements) - pad_elements) *
         tile.element_bytes;
}

int64_t PassesOf(const TileRows& tile, const BankLayout& layout,
                 absl::Span<const RowAccess> accesses, const Banks& banks) {
  int64_t passes = 0;
  for (const RowAccess& access : accesses)
    passes += BankPasses(InBytes(tile, layout, access), banks);
  return passes;
}

int64_t LeastPassesOf(const TileRows& tile,
                      absl::Span<const RowAccess> accesses,
                      const Banks& banks) {
  int64_t passes = 0;
  for (const RowAccess& access : accesses)
    passes += LeastBankPasses(InBytes(tile, {}, access), banks);
  return passes;
}

BankLayout BestPadding(const TileRows& tile,
                       absl::Span<const RowAccess> accesses,
                       int64_t chunk_elements, const Banks& banks) {
  // Rows begin at whole chunks.
  const int64_t first =
      CeilDiv(tile.row_elements, chunk_elements) * chunk_elements -
      tile.row_elements;
  BankLayout best{first};
  auto best_key = Key(tile, best, accesses, banks);
  if (tile.rows == 1) return best;
  // A row later by all banks is where it was.
  const int64_t row_bytes = std::lcm(banks.count * banks.width_bytes,
                                     chunk_elements * tile.element_bytes);
  for (int64_t pad = chunk_elements; pad * tile.element_bytes < row_bytes;
       pad += chunk_elements) {
    const BankLayout layout{first + pad};
    const auto key = Key(tile, layout, accesses, banks);
    if (key < best_key) {
      best = layout;
      best_key = key;
    }
  }
  return best;
}

BankLayout BestBankLayout(const TileRows& tile,
                          absl::Span<const RowAccess> accesses,
                          int64_t chunk_elements, const Banks& banks) {
  BankLayout best = BestPadding(tile, accesses, chunk_elements, banks);
  auto best_key = Key(tile, best, accesses, banks);
  if (tile.row_elements % chunk_elements != 0) return best;
  const int64_t chunks = tile.row_elements / chunk_elements;
  const int64_t most =
      std::max<int64_t>(1, banks.count * banks.width_bytes /
                               (chunk_elements * tile.element_bytes));
  for (int64_t steps = 2; steps <= most && chunks % steps == 0; steps *= 2) {
    for (int64_t rows = 1; rows * steps <= 2 * most && rows < tile.rows;
         rows *= 2) {
      const BankLayout layout{0, chunk_elements, steps, rows};
      const auto key = Key(tile, layout, accesses, banks);
      if (key < best_key) {
        best = layout;
        best_key = key;
      }
    }
  }
  return best;
}

}  // namespace tilewright

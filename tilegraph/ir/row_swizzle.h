// Chunks of rows exchanged by an exclusive or with the row, so that threads
// that read one column of several rows meet in no bank of a scratchpad. Which
// bytes a buffer takes, and which index an element has, stay as they are: only
// where lowering puts it changes. (CUTLASS: Swizzle<B, M, S>; which one is
// best: tilegraph/gpu/hardware/bank_layout.h.)
#ifndef TILEWRIGHT_TILEGRAPH_IR_ROW_SWIZZLE_H_
#define TILEWRIGHT_TILEGRAPH_IR_ROW_SWIZZLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"

namespace tilewright {

// Chunk c of row r lies at place c xor (r / rows_per_step mod steps). Rows lie
// along the last dimension; the others count them, row-major.
struct RowSwizzle {
  int64_t chunk_elements = 1;
  int64_t steps = 1;  // 1: none
  int64_t rows_per_step = 1;

  bool none() const { return steps == 1; }
  // InvalidArgument if rows of `shape` are no whole number of `steps` chunks,
  // or that is no power of two.
  absl::Status Fits(absl::Span<const int64_t> shape) const;
  // The index of the place of an element. REQUIRES: Fits(shape).
  std::vector<Expr> PlaceOf(absl::Span<const Expr> index,
                            absl::Span<const int64_t> shape) const;

  // "4,8,2": chunk_elements, steps, rows_per_step; parses back.
  std::string ToString() const;
  static absl::StatusOr<RowSwizzle> Parse(std::string_view text);
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_ROW_SWIZZLE_H_

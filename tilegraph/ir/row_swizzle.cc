#include "tilegraph/ir/row_swizzle.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/check.h"

namespace tilewright {

absl::Status RowSwizzle::Fits(absl::Span<const int64_t> shape) const {
  if ((steps & (steps - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("swizzle ", ToString(), ": no power of two"));
  }
  if (shape.empty() || shape.back() % (chunk_elements * steps) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("swizzle ", ToString(), ": rows of ",
                     shape.empty() ? 1 : shape.back(), " elements"));
  }
  return absl::OkStatus();
}

std::vector<Expr> RowSwizzle::PlaceOf(absl::Span<const Expr> index,
                                      absl::Span<const int64_t> shape) const {
  TW_CHECK_EQ(index.size(), shape.size());
  std::vector<Expr> place(index.begin(), index.end());
  if (none()) return place;
  Expr row = Expr::Int(0);
  for (size_t d = 0; d + 1 < index.size(); ++d)
    row = row * Expr::Int(shape[d]) + index[d];
  const Expr chunk = FloorDiv(index.back(), Expr::Int(chunk_elements)),
             step = FloorMod(FloorDiv(row, Expr::Int(rows_per_step)),
                             Expr::Int(steps));
  place.back() =
      Expr::Make(Op::kXor, {chunk, step}) * Expr::Int(chunk_elements) +
      FloorMod(index.back(), Expr::Int(chunk_elements));
  return place;
}

std::string RowSwizzle::ToString() const {
  return absl::StrCat(chunk_elements, ",", steps, ",", rows_per_step);
}

absl::StatusOr<RowSwizzle> RowSwizzle::Parse(std::string_view text) {
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(text.data(), text.size()), ',');
  RowSwizzle swizzle;
  if (parts.size() != 3 ||
      !absl::SimpleAtoi(parts[0], &swizzle.chunk_elements) ||
      !absl::SimpleAtoi(parts[1], &swizzle.steps) ||
      !absl::SimpleAtoi(parts[2], &swizzle.rows_per_step) ||
      swizzle.chunk_elements < 1 || swizzle.steps < 1 ||
      swizzle.rows_per_step < 1 || swizzle.steps > 1024 ||
      swizzle.chunk_elements > 1024) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", absl::string_view(text.data(), text.size()),
        "' is no swizzle: elements of a chunk, steps, rows of a step"));
  }
  return swizzle;
}

}  // namespace tilewright

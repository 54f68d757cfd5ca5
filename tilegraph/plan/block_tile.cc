#include "tilegraph/plan/block_tile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright {

std::string BlockTile::ToString() const {
  std::string text =
      absl::StrCat("threads [", absl::StrJoin(threads, ", "), "]");
  if (vector > 1) absl::StrAppend(&text, ", vectors of ", vector);
  if (rows > 1) absl::StrAppend(&text, ", ", rows, " rows side by side");
  if (lanes > 1) absl::StrAppend(&text, ", ", lanes, " lanes share a sum");
  if (slices > 1) absl::StrAppend(&text, ", ", slices, " slices of the terms");
  if (step > 0) absl::StrAppend(&text, ", steps of ", step);
  if (stages > 1)
    absl::StrAppend(&text, ", ", stages, async ? " buffers" : " stages");
  if (swizzle > 1) absl::StrAppend(&text, ", swizzle of ", swizzle);
  for (const auto& [tensor, elements] : row_padding)
    absl::StrAppend(&text, ", rows of %", tensor, " padded by ", elements);
  return text;
}

}  // namespace tilewright

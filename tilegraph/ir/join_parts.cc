#include "tilegraph/ir/join_parts.h"

#include <utility>

namespace tilewright {
namespace {

using Load = std::function<Expr(size_t part, std::vector<Expr> at)>;

// Of the parts from `first` to before `end`.
Expr Join(absl::Span<const int64_t> offsets, size_t first, size_t end, int axis,
          absl::Span<const Expr> index, const Load& load) {
  if (end - first == 1) {
    std::vector<Expr> at(index.begin(), index.end());
    at[axis] = index[axis] - Expr::Int(offsets[first]);
    return load(first, std::move(at));
  }
  const size_t middle = first + (end - first) / 2;
  return Expr::Make(
      Op::kSelect,
      {Expr::Make(Op::kLt, {index[axis], Expr::Int(offsets[middle])}),
       Join(offsets, first, middle, axis, index, load),
       Join(offsets, middle, end, axis, index, load)});
}

}  // namespace

Expr JoinParts(absl::Span<const int64_t> offsets, int axis,
               absl::Span<const Expr> index, const Load& load) {
  return Join(offsets, 0, offsets.size(), axis, index, load);
}

}  // namespace tilewright

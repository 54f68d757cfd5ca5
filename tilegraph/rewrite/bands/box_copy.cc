#include "tilegraph/rewrite/bands/box_copy.h"

#include <algorithm>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// The largest divisor among the digits of `dim`: what a block holds.
int64_t BlockOf(const Layout& layout, int dim) {
  int64_t block = 1;
  for (const Layout::Digit& digit : layout.digits()) {
    if (digit.dim == dim) block = std::max(block, digit.div);
  }
  return block;
}

int FindDigit(const Layout& layout, const Layout::Digit& like) {
  for (size_t i = 0; i < layout.digits().size(); ++i) {
    const Layout::Digit& digit = layout.digits()[i];
    if (digit.dim == like.dim && digit.div == like.div)
      return static_cast<int>(i);
  }
  return -1;
}

// Whether whole blocks of `dim` go into whole blocks.
bool BlocksStayWhole(const Layout& from, int64_t begin, const Layout& to,
                     int dim, int64_t block) {
  if (block == 1) return true;
  if (BlockOf(from, dim) != block || begin % block != 0 ||
      from.pad_before()[dim] != 0 || to.pad_before()[dim] != 0)
    return false;
  const int64_t extent = to.shape()[dim];
  if (extent % block == 0) return true;
  // The last block is padded in both.
  return begin + extent == from.shape()[dim] &&
         (to.fill() != Layout::Fill::kZero ||
          from.fill() == Layout::Fill::kZero);
}

}  // namespace

int64_t BoxCopy::elements() const {
  int64_t count = run;
  for (const Repeat& repeat : repeats) count *= repeat.count;
  return count;
}

std::optional<BoxCopy> CopyOfBox(const Layout& from,
                                 absl::Span<const int64_t> from_begin,
                                 const Layout& to) {
  if (from.digits().size() != to.digits().size() ||
      from.shape().size() != to.shape().size())
    return std::nullopt;
  BoxCopy copy;
  const std::vector<int64_t> origin(to.shape().size(), 0);
  copy.from_offset = from.Offset(from_begin);
  copy.to_offset = to.Offset(origin);
  std::vector<BoxCopy::Repeat> loops;
  for (size_t i = 0; i < to.digits().size(); ++i) {
    const Layout::Digit& digit = to.digits()[i];
    const int same = FindDigit(from, digit);
    const int64_t block = BlockOf(to, digit.dim);
    if (same < 0 ||
        !BlocksStayWhole(from, from_begin[digit.dim], to, digit.dim, block))
      return std::nullopt;
    const bool outermost = digit.div == block;
    if (!outermost && from.digits()[same].extent != digit.extent)
      return std::nullopt;
    const int64_t count =
        outermost ? CeilDiv(to.shape()[digit.dim], block) : digit.extent;
    if (count > 1)
      loops.push_back(
          {count, from.stride(same), to.stride(static_cast<int>(i))});
  }
  std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
    return a.to_stride > b.to_stride;
  });
  while (!loops.empty() && loops.back().from_stride == copy.run &&
         loops.back().to_stride == copy.run) {
    copy.run *= loops.back().count;
    loops.pop_back();
  }
  for (const BoxCopy::Repeat& loop : loops) {
    // Loops that continue each other are one.
    if (!copy.repeats.empty() &&
        copy.repeats.back().from_stride == loop.count * loop.from_stride &&
        copy.repeats.back().to_stride == loop.count * loop.to_stride) {
      copy.repeats.back() = {copy.repeats.back().count * loop.count,
                             loop.from_stride, loop.to_stride};
    } else {
      copy.repeats.push_back(loop);
    }
  }
  return copy;
}

}  // namespace tilewright

#include "compiler/zero_fill.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tilewright {
namespace {

constexpr int kMaxLevels = 4;  // repeats a Zero step may have

// The part that each position of dimension `d` adds to the offset of an
// element: every digit reads one dimension.
std::vector<int64_t> PartOfOffset(const Layout& layout, size_t d) {
  std::vector<int64_t> part(layout.shape()[d], 0);
  for (size_t i = 0; i < layout.digits().size(); ++i) {
    const Layout::Digit& digit = layout.digits()[i];
    if (digit.dim != static_cast<int>(d)) continue;
    for (size_t x = 0; x < part.size(); ++x) {
      part[x] += (static_cast<int64_t>(x) + layout.pad_before()[d]) /
                 digit.div % digit.extent * layout.stride(static_cast<int>(i));
    }
  }
  return part;
}

// Which elements of the physical buffer hold a logical one.
std::vector<bool> Covered(const Layout& layout) {
  std::vector<bool> covered(layout.physical_elements(), false);
  std::vector<std::vector<int64_t>> parts;
  for (size_t d = 0; d < layout.shape().size(); ++d)
    parts.push_back(PartOfOffset(layout, d));
  const std::function<void(size_t, int64_t)> cover = [&](size_t d,
                                                         int64_t offset) {
    if (d == parts.size()) {
      covered[offset] = true;
    } else if (d + 1 == parts.size()) {
      for (const int64_t part : parts[d]) covered[offset + part] = true;
    } else {
      for (const int64_t part : parts[d]) cover(d + 1, offset + part);
    }
  };
  cover(0, layout.base());
  return covered;
}

// Size and repeats, for ordering.
std::vector<int64_t> ShapeKey(const Zero& zero) {
  std::vector<int64_t> key = {zero.size_bytes()};
  for (const Zero::Repeat& repeat : zero.repeats())
    key.insert(key.end(), {repeat.count(), repeat.stride_bytes()});
  return key;
}

// Fusions fills of one shape at equal distances into one fill with one more,
// outermost, repeat.
std::vector<Zero> JoinProgressions(std::vector<Zero> fills) {
  std::stable_sort(
      fills.begin(), fills.end(),
      [](const Zero& a, const Zero& b) { return ShapeKey(a) < ShapeKey(b); });
  std::vector<Zero> fused;
  for (size_t begin = 0; begin < fills.size();) {
    size_t end = begin + 1;
    int64_t stride = 0;
    while (end < fills.size() &&
           ShapeKey(fills[begin]) == ShapeKey(fills[end])) {
      const int64_t step =
          fills[end].to().offset_bytes() - fills[end - 1].to().offset_bytes();
      if (end == begin + 1) stride = step;
      if (step != stride) break;
      ++end;
    }
    Zero zero = fills[begin];
    if (end - begin > 1) {
      zero.clear_repeats();
      Zero::Repeat* repeat = zero.add_repeats();
      repeat->set_count(static_cast<int64_t>(end - begin));
      repeat->set_stride_bytes(stride);
      for (const Zero::Repeat& inner : fills[begin].repeats())
        *zero.add_repeats() = inner;
    }
    fused.push_back(std::move(zero));
    begin = end;
  }
  return fused;
}

}  // namespace

std::vector<Zero> ZeroFills(const Layout& layout, int64_t element_bytes) {
  if (layout.fill() != Layout::Fill::kZero) return {};
  const std::vector<bool> covered = Covered(layout);
  std::vector<Zero> fills;
  const int64_t elements = static_cast<int64_t>(covered.size());
  for (int64_t begin = 0; begin < elements;) {
    int64_t end = begin;
    while (end < elements && !covered[end]) ++end;
    if (end > begin) {
      Zero zero;
      zero.mutable_to()->set_offset_bytes(begin * element_bytes);
      zero.set_size_bytes((end - begin) * element_bytes);
      fills.push_back(std::move(zero));
    }
    begin = end + 1;
  }
  for (int level = 0; level < kMaxLevels; ++level)
    fills = JoinProgressions(std::move(fills));
  return fills;
}

}  // namespace tilewright

#include "tilegraph/rewrite/bands/box_copy.h"

#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

// The element of `from` behind every element of `to`, -1 where none was
// copied.
std::vector<int64_t> Copied(const BoxCopy& copy, int64_t to_elements) {
  std::vector<int64_t> memory(to_elements, -1);
  const std::function<void(size_t, int64_t, int64_t)> loop = [&](size_t depth,
                                                                 int64_t from,
                                                                 int64_t to) {
    if (depth == copy.repeats.size()) {
      for (int64_t i = 0; i < copy.run; ++i) memory.at(to + i) = from + i;
      return;
    }
    const BoxCopy::Repeat& repeat = copy.repeats[depth];
    for (int64_t i = 0; i < repeat.count; ++i)
      loop(depth + 1, from + i * repeat.from_stride, to + i * repeat.to_stride);
  };
  loop(0, copy.from_offset, copy.to_offset);
  return memory;
}

void ForEachIndex(const Shape& shape, const std::function<void(Shape&)>& fn) {
  Shape index(shape.size(), 0);
  const std::function<void(size_t)> at = [&](size_t d) {
    if (d == shape.size()) return fn(index);
    for (index[d] = 0; index[d] < shape[d]; ++index[d]) at(d + 1);
  };
  at(0);
}

TEST(BoxCopyTest, RowsOfAnImageAreOneRunPerChannel) {
  const Layout from = Layout::RowMajor(Shape{1, 3, 8, 5});
  const Layout to = Layout::RowMajor(Shape{1, 3, 4, 5});
  const std::optional<BoxCopy> copy = CopyOfBox(from, Shape{0, 0, 2, 0}, to);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->from_offset, 10);
  EXPECT_EQ(copy->run, 20);
  ASSERT_EQ(copy->repeats.size(), 1);
  EXPECT_EQ(copy->repeats[0].count, 3);
  EXPECT_EQ(copy->repeats[0].from_stride, 40);
  EXPECT_EQ(copy->repeats[0].to_stride, 20);
  EXPECT_EQ(copy->elements(), 60);
}

TEST(BoxCopyTest, WholeTensorsAreOneRun) {
  const Layout layout = Layout::BlockedLast(Shape{2, 20, 3, 3}, 1, 16);
  const std::optional<BoxCopy> copy =
      CopyOfBox(layout, Shape{0, 0, 0, 0}, layout);
  ASSERT_TRUE(copy.has_value());
  EXPECT_TRUE(copy->repeats.empty());
  EXPECT_EQ(copy->run, layout.physical_elements());
}

TEST(BoxCopyTest, RefusesOtherOrdersAndTornBlocks) {
  const Layout plain = Layout::RowMajor(Shape{1, 32, 4, 4});
  const Layout blocks = Layout::BlockedLast(Shape{1, 32, 4, 4}, 1, 16);
  EXPECT_FALSE(CopyOfBox(plain, Shape{0, 0, 0, 0}, blocks).has_value());
  const Layout part = Layout::BlockedLast(Shape{1, 16, 4, 4}, 1, 16);
  EXPECT_TRUE(CopyOfBox(blocks, Shape{0, 16, 0, 0}, part).has_value());
  EXPECT_FALSE(CopyOfBox(blocks, Shape{0, 8, 0, 0}, part).has_value());
}

TEST(BoxCopyTest, EveryElementArrivesWhereItBelongs) {
  Random random(5);
  int copies = 0;
  for (int i = 0; i < 400; ++i) {
    Shape shape, begin, extent;
    for (int d = 0; d < 4; ++d) {
      shape.push_back(random.UniformInt(1, 7));
      extent.push_back(random.UniformInt(1, shape[d]));
      begin.push_back(random.UniformInt(0, shape[d] - extent[d]));
    }
    const auto draw = [&](const Shape& of) {
      Shape before(4, 0), after(4, 0);
      for (int d = 2; d < 4; ++d) {
        before[d] = random.UniformInt(0, 2);
        after[d] = random.UniformInt(0, 2);
      }
      const Layout layout = random.Bernoulli(0.5)
                                ? Layout::RowMajor(of)
                                : Layout::BlockedLast(of, 1, 2);
      return random.Bernoulli(0.5)
                 ? layout
                 : layout.WithHalo(before, after, Layout::Fill::kUndefined);
    };
    const Layout from = draw(shape), to = draw(extent);
    const std::optional<BoxCopy> copy = CopyOfBox(from, begin, to);
    if (!copy) continue;
    ++copies;
    const std::vector<int64_t> memory = Copied(*copy, to.physical_elements());
    ForEachIndex(extent, [&](Shape& index) {
      Shape there = begin;
      for (int d = 0; d < 4; ++d) there[d] += index[d];
      EXPECT_EQ(memory[to.Offset(index)], from.Offset(there));
    });
  }
  EXPECT_GT(copies, 100);
}

}  // namespace
}  // namespace tilewright

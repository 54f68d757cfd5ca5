#include "compiler/zero_fill.h"

#include <functional>

#include "gtest/gtest.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {
namespace {

// How often each byte of the layout's buffer is set.
std::vector<int> TimesSet(const Layout& layout, int64_t element_bytes) {
  std::vector<int> times(layout.physical_elements() * element_bytes, 0);
  for (const Zero& zero : ZeroFills(layout, element_bytes)) {
    const std::function<void(int64_t, int)> fill = [&](int64_t at, int depth) {
      if (depth == zero.repeats_size()) {
        for (int64_t i = 0; i < zero.size_bytes(); ++i) ++times.at(at + i);
        return;
      }
      for (int64_t i = 0; i < zero.repeats(depth).count(); ++i)
        fill(at + i * zero.repeats(depth).stride_bytes(), depth + 1);
    };
    fill(zero.to().offset_bytes(), 0);
  }
  return times;
}

void ExpectOnlyPaddingIsSet(const Layout& layout, int64_t element_bytes) {
  const std::vector<int> times = TimesSet(layout, element_bytes);
  std::vector<int> wanted(times.size(), 1);
  int64_t elements = 1;
  for (const int64_t extent : layout.shape()) elements *= extent;
  for (int64_t linear = 0; linear < elements; ++linear) {
    std::vector<int64_t> index(layout.shape().size());
    int64_t rest = linear;
    for (int d = static_cast<int>(index.size()) - 1; d >= 0; --d)
      index[d] = rest % layout.shape()[d], rest /= layout.shape()[d];
    for (int64_t i = 0; i < element_bytes; ++i)
      wanted[layout.Offset(absl::MakeConstSpan(index)) * element_bytes + i] = 0;
  }
  EXPECT_EQ(times, wanted) << layout.ToString();
}

TEST(ZeroFillTest, TheHaloOfABlockedImageIsSetOnceAndNothingElse) {
  const Layout blocked = Layout::BlockedLast({1, 32, 5, 7}, 1, 16);
  ExpectOnlyPaddingIsSet(
      blocked.WithHalo({0, 0, 1, 1}, {0, 0, 1, 1}, Layout::Fill::kZero), 4);
  ExpectOnlyPaddingIsSet(
      blocked.WithHalo({0, 0, 3, 0}, {0, 0, 0, 2}, Layout::Fill::kZero), 2);
}

TEST(ZeroFillTest, ChannelsThatDoNotFillTheirBlockCountAsPadding) {
  ExpectOnlyPaddingIsSet(
      Layout::BlockedLast({2, 5, 3}, 1, 4)
          .WithHalo({0, 0, 1}, {0, 0, 0}, Layout::Fill::kZero),
      4);
}

TEST(ZeroFillTest, AHaloNeedsFewSteps) {
  const Layout layout =
      Layout::BlockedLast({1, 64, 56, 56}, 1, 16)
          .WithHalo({0, 0, 1, 1}, {0, 0, 1, 1}, Layout::Fill::kZero);
  EXPECT_LE(ZeroFills(layout, 4).size(), 12u);  // of some 230 runs
}

TEST(ZeroFillTest, WithoutPaddingOrPromiseThereIsNothingToDo) {
  EXPECT_TRUE(ZeroFills(Layout::RowMajor({3, 4}), 4).empty());
  EXPECT_TRUE(ZeroFills(Layout::RowMajor({3, 4}).WithHalo(
                            {1, 1}, {1, 1}, Layout::Fill::kUndefined),
                        4)
                  .empty());
}

}  // namespace
}  // namespace tilewright

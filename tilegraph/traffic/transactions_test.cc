#include "tilegraph/traffic/transactions.h"

#include <vector>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TileSpan Span(int64_t extent, int64_t move = 0) {
  TileSpan span;
  span.moves = {move};
  span.extent = extent;
  return span;
}

// Worked by hand; floats of 4 bytes.
TEST(TransactionsTest, RunsMoveTheTransactionsTheyTouch) {
  const std::vector<int64_t> shape = {64, 64};
  const Layout rows = Layout::RowMajor(shape);
  // 16 floats from multiples of 16 on: 64 of 128 bytes, 2 of 2 times 32.
  EXPECT_EQ(
      TransactionRounding({Span(8), Span(16, 16)}, shape, rows, 4, 128)[0], 2);
  EXPECT_EQ(TransactionRounding({Span(8), Span(16, 16)}, shape, rows, 4, 32)[0],
            1);
  // 5 floats from multiples of 5: from every 4th byte of a line of 32 on; the
  // 8 starts touch 1, 1, 1, 1, 2, 2, 2, 2 lines: 48 bytes for 20.
  EXPECT_EQ(TransactionRounding({Span(8), Span(5, 5)}, shape, rows, 4, 32)[0],
            48.0 / 20);
  // Whole rows lie behind each other.
  EXPECT_EQ(TransactionRounding({Span(8, 8), Span(64)}, shape, rows, 4, 128)[0],
            1);
  // Rows that move at different times share no line: 65 floats each, 260 bytes
  // from every multiple of 4 on touch 8 or 9 lines, 260 / 32 + 7 / 8 on
  // average.
  const std::vector<int64_t> odd = {64, 65};
  const Rounding whole = TransactionRounding({Span(64), Span(65)}, odd,
                                             Layout::RowMajor(odd), 4, 32);
  EXPECT_EQ(whole[0], 1);
  EXPECT_DOUBLE_EQ(whole[1], 9.0 * 32 / 260);
  // Gaps that no line fits into move too; wider ones do not.
  TileSpan every_other = Span(32), every_16th = Span(4);
  every_other.step = 2;
  every_16th.step = 16;
  EXPECT_NEAR(
      TransactionRounding({Span(1), every_other}, shape, rows, 4, 32)[0], 2,
      0.05);
  EXPECT_EQ(TransactionRounding({Span(1), every_16th}, shape, rows, 4, 32)[0],
            8);
  // A column: one float of every line.
  EXPECT_EQ(
      TransactionRounding({Span(8, 8), Span(1, 1)}, shape, rows, 4, 32)[0], 8);
}

TEST(TransactionsTest, RunsEndAtTheFirstGap) {
  const std::vector<int64_t> shape = {1, 64, 8, 32};
  EXPECT_EQ(RunElements({1, 64, 8, 32}, shape, nullptr, 1), 64 * 8 * 32);
  EXPECT_EQ(RunElements({1, 4, 3, 32}, shape, nullptr, 1), 3 * 32);
  EXPECT_EQ(RunElements({1, 4, 8, 5}, shape, nullptr, 1), 5);
  // Channels in blocks of 16: the pixels of a block lie in a row.
  const Layout blocks = Layout::BlockedLast(shape, 1, 16);
  EXPECT_EQ(RunElements({1, 64, 8, 5}, shape, &blocks, 1), 5 * 16);
  EXPECT_EQ(RunElements({1, 32, 8, 32}, shape, &blocks, 1), 32 * 8 * 32);
}

TEST(TransactionsTest, RunsGoOnOverSmallGaps) {
  // Half of the channels of every pixel: gaps of 32.
  const std::vector<int64_t> shape = {8, 4, 64};
  EXPECT_EQ(RunElements({8, 4, 32}, shape, nullptr, 32), 32);
  EXPECT_EQ(RunElements({8, 4, 32}, shape, nullptr, 33), 8 * 4 * 32);
  // Between rows of three pixels lie 64 + 32.
  EXPECT_EQ(RunElements({8, 3, 32}, shape, nullptr, 96), 3 * 32);
  EXPECT_EQ(RunElements({8, 3, 32}, shape, nullptr, 97), 8 * 3 * 32);
  // One row of them has no neighbours.
  EXPECT_EQ(RunElements({8, 1, 64}, shape, nullptr, 192), 64);
  EXPECT_EQ(RunElements({8, 1, 64}, shape, nullptr, 193), 8 * 64);
}

}  // namespace
}  // namespace tilewright

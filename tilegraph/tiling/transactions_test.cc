#include "tilegraph/tiling/transactions.h"

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
  EXPECT_EQ(TransactionRounding({Span(8), Span(16, 16)}, shape, rows, 4, 128),
            2);
  EXPECT_EQ(TransactionRounding({Span(8), Span(16, 16)}, shape, rows, 4, 32),
            1);
  // 5 floats from multiples of 5: from every 4th byte of a line of 32 on; the
  // 8 starts touch 1, 1, 1, 1, 2, 2, 2, 2 lines: 48 bytes for 20.
  EXPECT_EQ(TransactionRounding({Span(8), Span(5, 5)}, shape, rows, 4, 32),
            48.0 / 20);
  // Whole rows lie behind each other.
  EXPECT_EQ(TransactionRounding({Span(8, 8), Span(64)}, shape, rows, 4, 128),
            1);
  // A column: one float of every line.
  EXPECT_EQ(TransactionRounding({Span(8, 8), Span(1, 1)}, shape, rows, 4, 32),
            8);
}

}  // namespace
}  // namespace tilewright

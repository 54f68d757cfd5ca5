#include "sketch/window_tile.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace tilewright::sketch {
namespace {

// Depthwise, channels along the vector axis: X[v, oh · s + kh, ow · s + kw] and
// W[v, kh, kw].
WindowSpace Depthwise(int64_t channels, int64_t size, int64_t kernel,
                      int64_t stride, int registers) {
  WindowSpace space;
  space.vectors = channels;
  space.rows = space.outer_rows = size;
  space.reduce = {kernel, kernel};
  const int kh = kFirstReduceAxis, kw = kFirstReduceAxis + 1;
  space.accesses = {{{{{kVectorAxis, 1}},
                      {{kOuterRowAxis, stride}, {kh, 1}},
                      {{kRowAxis, stride}, {kw, 1}}}},
                    {{{{kVectorAxis, 1}}, {{kh, 1}}, {{kw, 1}}}}};
  space.registers = registers;
  return space;
}

TEST(WindowTileTest, SmallWindowsAreUnrolledWhole) {
  const WindowTile tile = ChooseWindowTile(Depthwise(24, 14, 3, 1, 32));
  EXPECT_EQ(tile.unrolled, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(tile.vectors, 1);
  EXPECT_GE(tile.rows * tile.outer_rows, 10);
}

TEST(WindowTileTest, OfLargeWindowsOneRow) {
  for (const int64_t kernel : {5, 7}) {
    const WindowTile tile = ChooseWindowTile(Depthwise(24, 14, kernel, 1, 32));
    EXPECT_EQ(tile.unrolled, (std::vector<int64_t>{1, kernel})) << kernel;
    EXPECT_GE(tile.rows * tile.outer_rows, 10) << kernel;
  }
}

TEST(WindowTileTest, OfALongWindowAPart) {
  WindowSpace space;
  space.vectors = 16;
  space.rows = 300;
  space.reduce = {31};
  space.accesses = {
      {{{{kVectorAxis, 1}}, {{kRowAxis, 1}, {kFirstReduceAxis, 1}}}},
      {{{{kVectorAxis, 1}}, {{kFirstReduceAxis, 1}}}}};
  const WindowTile tile = ChooseWindowTile(space);
  EXPECT_GT(tile.unrolled[0], 1);
  EXPECT_LT(tile.unrolled[0], 31);
}

TEST(WindowTileTest, ManyCoresGetTilesOfTheirOwn) {
  // A mean over 7 x 7 pixels of 2048 channels.
  WindowSpace space = Depthwise(128, 1, 7, 1, 32);
  space.accesses.pop_back();
  const WindowTile tile = ChooseWindowTile(space);
  EXPECT_EQ(CountTiles(space, tile), 16);
  EXPECT_EQ(CountTiles(space, ShareWindowTiles(space, {1, 8, 1}, tile)), 16);
  EXPECT_EQ(CountTiles(space, ShareWindowTiles(space, {4, 64, 1}, tile)), 16);
  const WindowTile shared = ShareWindowTiles(space, {1, 64, 1}, tile);
  EXPECT_EQ(CountTiles(space, shared), 64);
  EXPECT_EQ(shared.unrolled, tile.unrolled);
}

TEST(WindowTileTest, AccumulatorsAndWeightsFitTheRegisters) {
  for (const int registers : {16, 32}) {
    for (const int64_t kernel : {1, 2, 3, 5, 7, 11}) {
      for (const int64_t stride : {1, 2}) {
        for (const int64_t size : {1, 2, 7, 13, 56}) {
          const WindowTile tile =
              ChooseWindowTile(Depthwise(3, size, kernel, stride, registers));
          int64_t taps = 1;
          for (const int64_t n : tile.unrolled) taps *= n;
          EXPECT_LE(tile.vectors * (tile.rows * tile.outer_rows + taps) + 1,
                    registers);
          EXPECT_LE(tile.rows, size);
          EXPECT_LE(tile.outer_rows, size);
          EXPECT_LE(tile.vectors, 3);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::sketch

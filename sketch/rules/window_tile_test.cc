#include "sketch/rules/window_tile.h"

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

// As many outputs and loads either way: four rows of two columns, or two of
// four.
TEST(WindowTileTest, LongRunsAreAskedForWhereStoresGoPastCaches) {
  WindowSpace space = Depthwise(4, 8, 3, 1, 32);
  space.most_outputs = 8;
  const WindowTile near = ChooseWindowTile(space);
  EXPECT_EQ(near.rows, 2);
  EXPECT_EQ(near.outer_rows, 4);
  space.long_runs = true;
  const WindowTile far = ChooseWindowTile(space);
  EXPECT_EQ(far.rows, 4);
  EXPECT_EQ(far.outer_rows, 2);
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

// The same without weights.
WindowSpace Pooling(int64_t size, int64_t kernel, int64_t stride) {
  WindowSpace space = Depthwise(4, size, kernel, stride, 32);
  space.accesses.pop_back();
  return space;
}

// Pixels along one axis that so many outputs read.
int64_t Span(int64_t outputs, int64_t kernel, int64_t stride) {
  return stride < kernel ? (outputs - 1) * stride + kernel : outputs * kernel;
}

TEST(WindowTileTest, WithoutWeightsTilesAreSmall) {
  for (const double operations : {1, 4}) {
    for (const int64_t kernel : {2, 3, 4, 5}) {
      for (const int64_t stride : {1, 2, 3, 4, 5}) {
        for (const int64_t size : {5, 16, 56, 113}) {
          WindowSpace space = Pooling(size, kernel, stride);
          space.operations = operations;
          const WindowTile tile = ChooseWindowTile(space);
          // Large windows are taken row by row.
          if (tile.unrolled[0] < kernel) {
            EXPECT_GE(kernel, 3);
            continue;
          }
          EXPECT_LE(tile.vectors * Span(tile.rows, kernel, stride) *
                        Span(tile.outer_rows, kernel, stride),
                    stride < kernel ? 36 : 27)
              << kernel << " by " << stride << " of " << size;
          EXPECT_LE(Span(tile.outer_rows, kernel, stride), 11);
        }
      }
    }
  }
}

TEST(WindowTileTest, WindowsThatDoNotOverlapAreReadAlongRows) {
  for (const int64_t kernel : {2, 3}) {
    for (const int64_t size : {7, 56, 128}) {
      WindowSpace space = Pooling(size, kernel, kernel);
      space.operations = 4;
      const WindowTile tile = ChooseWindowTile(space);
      EXPECT_EQ(tile.unrolled, (std::vector<int64_t>{kernel, kernel}));
      EXPECT_EQ(tile.rows, 2);
      EXPECT_EQ(tile.outer_rows, 1);
      EXPECT_EQ(tile.vectors, 1);
    }
  }
}

TEST(WindowTileTest, TilesOfOverlappingWindowsAreHighAndNarrow) {
  for (const bool guarded : {false, true}) {
    for (const double operations : {1, 4}) {
      for (const int64_t stride : {1, 2}) {
        WindowSpace space = Pooling(56, 3, stride);
        space.guarded = guarded;
        space.operations = operations;
        const WindowTile tile = ChooseWindowTile(space);
        EXPECT_GE(tile.outer_rows, 3);
        EXPECT_GT(tile.outer_rows, tile.rows);
        EXPECT_LE(tile.rows, 3);
        EXPECT_EQ(tile.vectors, 1);
      }
    }
  }
}

// Depthwise with pixels along the vector axis: weights move with the channels,
// which are the outer rows.
TEST(WindowTileTest, WeightsOfPlainImagesAreWeights) {
  WindowSpace space = Depthwise(1, 16, 3, 1, 32);
  const int kh = kFirstReduceAxis, kw = kFirstReduceAxis + 1;
  space.accesses = {{{{{kOuterRowAxis, 1}},
                      {{kRowAxis, 1}, {kh, 1}},
                      {{kVectorAxis, 1}, {kw, 1}}}},
                    {{{{kOuterRowAxis, 1}}, {{kh, 1}}, {{kw, 1}}}}};
  const WindowTile tile = ChooseWindowTile(space);
  EXPECT_GE(tile.rows * tile.outer_rows, 10);
}

TEST(WindowTileTest, WindowsThatLoadTooMuchStillHaveATile) {
  for (const int64_t kernel : {6, 7, 9}) {
    const WindowTile tile = ChooseWindowTile(Pooling(20, kernel, kernel));
    EXPECT_GE(tile.rows * tile.outer_rows * tile.vectors, 1);
    const WindowTile whole =
        ChooseWindowTile(Pooling(20, kernel, kernel), {kernel, kernel});
    EXPECT_EQ(whole.unrolled, (std::vector<int64_t>{kernel, kernel}));
  }
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

#include "tilegraph/plan/register_tile.h"

#include <vector>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

struct Case {
  const char* what;
  TileSpace space;  // vectors, rows, outer_rows, registers, registers_per_unit
  RegisterTile tile;
};

void ExpectTiles(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const RegisterTile tile = ChooseRegisterTile(c.space);
    EXPECT_EQ(tile.vectors, c.tile.vectors) << c.what;
    EXPECT_EQ(tile.rows, c.tile.rows) << c.what;
    EXPECT_EQ(tile.outer_rows, c.tile.outer_rows) << c.what;
  }
}

TEST(RegisterTileTest, DivisibilityFirstThenLoadsPerMultiplyAdd) {
  ExpectTiles({
      {"GEMM 1024^3", {64, 1024, 1, 32, 1, true}, {4, 6, 1}},
      {"MLP of width 64", {4, 65536, 1, 32, 1}, {4, 6, 1}},
      {"convolution 64x56", {4, 56, 56, 32, 1}, {2, 14, 1}},
      {"convolution 256x14", {16, 14, 14, 32, 1}, {2, 14, 1}},
      {"convolution 512x7", {32, 7, 7, 32, 1}, {2, 7, 2}},
      {"one row", {63, 1, 1, 32, 1}, {8, 1, 1}},
  });
}

// Without broadcasts inside multiply-adds a tile of one vector is bound by its
// loads, however many rows it has.
TEST(RegisterTileTest, SixteenRegistersWantFewLoadsPerMultiplyAdd) {
  ExpectTiles({
      {"channels of 56 x 56", {8, 56, 56, 16, 1}, {2, 6, 1}},
      {"channels of 14 x 14", {32, 14, 14, 16, 1}, {3, 4, 1}},
      {"channels of 7 x 7", {64, 7, 7, 16, 1}, {3, 4, 1}},
      {"blocks of two vectors, 14 x 14", {16, 14, 14, 16, 2}, {1, 5, 1}},
      {"blocks of two vectors, 7 x 7", {32, 7, 7, 16, 2}, {1, 4, 1}},
  });
}

// Eight blocks would fill all registers with sums of a single row.
TEST(RegisterTileTest, UnitsOfSeveralRegistersStillFit) {
  for (int64_t vectors = 1; vectors <= 20; ++vectors) {
    for (const int64_t rows : {1, 2, 5, 7, 14}) {
      const RegisterTile tile = ChooseRegisterTile({vectors, rows, 7, 16, 2});
      EXPECT_LE(2 * tile.vectors * (tile.rows * tile.outer_rows + 1) + 1, 16);
    }
  }
}

TEST(RegisterTileTest, AccumulatorsAndOperandsFitTheRegisters) {
  for (const int registers : {16, 32}) {
    for (int64_t vectors = 1; vectors <= 20; ++vectors) {
      for (int64_t rows = 1; rows <= 40; ++rows) {
        const RegisterTile tile =
            ChooseRegisterTile({vectors, rows, 7, registers, 1});
        EXPECT_LE(tile.rows * tile.outer_rows * tile.vectors + tile.vectors + 1,
                  registers);
        EXPECT_LE(tile.rows, rows);
        EXPECT_TRUE(tile.outer_rows == 1 || tile.rows == rows);
      }
    }
  }
}

TEST(RegisterTileTest, TilesEndWithTheSpace) {
  int64_t covered = 0;
  const auto tiles = TilesOf({7, 5, 2}, {3, 5, 2});
  for (const auto& [tile, count] : tiles)
    covered += count * tile.vectors * tile.rows * tile.outer_rows;
  EXPECT_EQ(covered, 7 * 5 * 2);
  ASSERT_EQ(tiles.size(), 2);
  EXPECT_EQ(tiles[0].count, 2);
  EXPECT_EQ(tiles[1].tile.vectors, 1);
  EXPECT_EQ(TilesOf({7, 5, 3}, {2, 2, 2}).size(), 8);
}

// The space is that of a product with 1000 columns and one row.
// Tiles of four rows leave out steps that longer ones take.
TEST(RegisterTileTest, FewerStepsMakeUpForSmallerTiles) {
  TileSpace space{16, 20, 20, 32, 1};
  EXPECT_EQ(ChooseRegisterTile(space).rows, 5);
  space.steps_left = [](int64_t rows) { return rows % 4 == 0 ? 0.6 : 1; };
  EXPECT_EQ(ChooseRegisterTile(space).rows, 4);
  space.steps_left = [](int64_t rows) { return rows == 1 ? 0.9 : 1; };
  EXPECT_EQ(ChooseRegisterTile(space).rows, 5);
}

TEST(RegisterTileTest, ManyCoresGetTilesOfTheirOwn) {
  const TileSpace space = {63, 1, 1, 32, 1};
  for (const int64_t cores : {1, 2, 8})
    EXPECT_EQ(ChooseRegisterTile(space, {1, cores, 2048}).vectors, 8);
  EXPECT_EQ(CountTiles(space, ChooseRegisterTile(space, {1, 64, 2048})), 63);
  EXPECT_EQ(CountTiles(space, ChooseRegisterTile(space, {1, 24, 2048})), 21);
  // Tiles of other axes are enough, or there is too little to do.
  EXPECT_EQ(ChooseRegisterTile(space, {8, 64, 2048}).vectors, 8);
  EXPECT_EQ(CountTiles({8, 1, 1, 32, 1},
                       ChooseRegisterTile({8, 1, 1, 32, 1}, {1, 64, 16})),
            1);
}

// An MLP of width 64 in tiles of a task: six rows do not divide 512.
TEST(RegisterTileTest, TilesThatMustStayInsideTakeLonger) {
  TileSpace space = {4, 512, 1, 32, 1};
  EXPECT_EQ(SlowdownOfAllowed(space), 1);
  space.allowed = [&](const RegisterTile& tile) {
    return StaysInside(tile.rows, space.rows);
  };
  EXPECT_EQ(ChooseRegisterTile(space).rows, 4);
  EXPECT_GT(SlowdownOfAllowed(space), 1.04);
  EXPECT_LT(SlowdownOfAllowed(space), 1.10);
  space.rows = 504;
  EXPECT_EQ(ChooseRegisterTile(space).rows, 6);
  EXPECT_EQ(SlowdownOfAllowed(space), 1);
}

TEST(RegisterTileTest, TilesDivideOrComputeLittleMore) {
  EXPECT_TRUE(StaysInside(6, 504));
  EXPECT_TRUE(StaysInside(6, 5));
  EXPECT_FALSE(StaysInside(6, 512));
  EXPECT_FALSE(StaysInside(6, 64));
  // 29 has no divisor: a row more is computed, but not seven.
  EXPECT_TRUE(StaysInside(6, 29));
  EXPECT_FALSE(StaysInside(12, 29));
}

TEST(RegisterTileTest, LeavesAsManyTilesAsItHasTo) {
  TileSpace space = {4, 56, 56, 32, 1};
  EXPECT_EQ(CountTiles(space, ChooseRegisterTile(space)), 2 * 4 * 56);
  space.least_tiles = 1000;
  EXPECT_GE(CountTiles(space, ChooseRegisterTile(space)), 1000);
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/gpu/hardware/block_order.h"

#include <set>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// Rows of A and columns of B, of the tiles of a product.
std::vector<BlockOperand> Product(double a_bytes, double b_bytes) {
  return {{a_bytes, {true, false}}, {b_bytes, {false, true}}};
}

TEST(BlockOrderTest, PanelsByHand) {
  const BlockOrder order = {{0, 1}, 2};
  const std::vector<int64_t> grid = {3, 5};
  // Panels of columns 0 and 1, 2 and 3, and 4 alone.
  EXPECT_THAT(BlockAt(order, grid, 0), ElementsAre(0, 0));
  EXPECT_THAT(BlockAt(order, grid, 1), ElementsAre(0, 1));
  EXPECT_THAT(BlockAt(order, grid, 2), ElementsAre(1, 0));
  EXPECT_THAT(BlockAt(order, grid, 6), ElementsAre(0, 2));
  EXPECT_THAT(BlockAt(order, grid, 12), ElementsAre(0, 4));
  EXPECT_THAT(BlockAt(order, grid, 14), ElementsAre(2, 4));
}

TEST(BlockOrderTest, SquareWavesShareMost) {
  // 64 blocks of a grid of 32 by 32: in rows 2 of A and 32 of B; in panels of 8
  // columns 8 and 8.
  const std::vector<int64_t> grid = {32, 32};
  const auto operands = Product(1, 1);
  const BlockOrder rows = {{0, 1}, 0}, panels = {{0, 1}, 8};
  EXPECT_EQ(TilesOfWave(rows, grid, operands[0], 64), 2);
  EXPECT_EQ(TilesOfWave(rows, grid, operands[1], 64), 32);
  EXPECT_EQ(TilesOfWave(panels, grid, operands[0], 64), 8);
  EXPECT_EQ(TilesOfWave(panels, grid, operands[1], 64), 8);
  // A cache of 60 tiles: two waves in rows do not fit (68 > 45), so B comes
  // again in each of 16. In panels they do: A once per panel, B once.
  EXPECT_EQ(BytesOfWaves(rows, grid, operands, 64, 60), 16 * (2 + 32));
  EXPECT_EQ(BytesOfWaves(panels, grid, operands, 64, 60), 4 * 32 + 32);
  const BlockOrder best = BestBlockOrder(grid, operands, 64, 60);
  EXPECT_LE(BytesOfWaves(best, grid, operands, 64, 60), 4 * 32 + 32);
  EXPECT_GT(best.panel, 1);
  // All 64 tiles fit: the plain order.
  const BlockOrder plain = BestBlockOrder(grid, operands, 64, 100);
  EXPECT_THAT(plain.dims, ElementsAre(0, 1));
  EXPECT_EQ(plain.panel, 0);
}

TEST(BlockOrderTest, OrdersAreBijectionsAndWavesAreCountedRight) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    std::vector<int64_t> grid;
    BlockOrder order;
    const int rank = 1 + static_cast<int>(random.UniformInt(0, 2));
    int64_t blocks = 1;
    for (int d = 0; d < rank; ++d) {
      grid.push_back(1 + random.UniformInt(0, 8));
      blocks *= grid.back();
      order.dims.insert(order.dims.begin() + random.UniformInt(0, d + 1 - 1),
                        d);
    }
    order.panel = random.UniformInt(0, 4);
    std::set<std::vector<int64_t>> seen;
    for (int64_t number = 0; number < blocks; ++number) {
      const std::vector<int64_t> at = BlockAt(order, grid, number);
      for (int d = 0; d < rank; ++d) {
        EXPECT_GE(at[d], 0);
        EXPECT_LT(at[d], grid[d]);
      }
      EXPECT_TRUE(seen.insert(at).second);
    }
    if (rank > 1 && order.panel > 0 &&
        grid[order.dims.back()] % order.panel != 0)
      continue;  // the last panel is narrower: counted as if it were not
    // The wave's outermost loop counts as whole.
    std::vector<int64_t> loops;  // innermost first
    for (int d = rank; d-- > 0;) loops.push_back(grid[order.dims[d]]);
    if (rank > 1 && order.panel > 0) {
      loops.insert(loops.begin() + 2, loops[0] / order.panel);
      loops[0] = order.panel;
    }
    int64_t wave = random.UniformInt(1, blocks), inside = 1;
    for (const int64_t extent : loops) {
      if (inside * extent > wave) break;
      inside *= extent;
    }
    wave = (wave + inside - 1) / inside * inside;
    BlockOperand operand{1, {}};
    for (int d = 0; d < rank; ++d)
      operand.varies.push_back(random.Bernoulli(0.5));
    std::set<std::vector<int64_t>> tiles;
    for (int64_t number = 0; number < wave; ++number) {
      std::vector<int64_t> at = BlockAt(order, grid, number);
      for (int d = 0; d < rank; ++d)
        if (!operand.varies[d]) at[d] = 0;
      tiles.insert(at);
    }
    EXPECT_EQ(TilesOfWave(order, grid, operand, wave),
              static_cast<double>(tiles.size()));
  }
}

TEST(BlockOrderTest, NoFewerBytesThanAllTilesNorMoreThanEveryBlocks) {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    const std::vector<int64_t> grid = {1 + random.UniformInt(0, 39),
                                       1 + random.UniformInt(0, 39)};
    const auto operands =
        Product(1 + static_cast<double>(random.UniformInt(0, 3)), 2);
    const int64_t wave = 1 + random.UniformInt(0, 299);
    const auto cache = static_cast<double>(random.UniformInt(0, 199));
    const BlockOrder best = BestBlockOrder(grid, operands, wave, cache);
    const double bytes = BytesOfWaves(best, grid, operands, wave, cache);
    const auto m = static_cast<double>(grid[0]),
               n = static_cast<double>(grid[1]);
    EXPECT_GE(bytes, m * operands[0].tile_bytes + n * operands[1].tile_bytes);
    EXPECT_LE(bytes, m * n * (operands[0].tile_bytes + operands[1].tile_bytes));
    EXPECT_LE(bytes, BytesOfWaves({{0, 1}, 0}, grid, operands, wave, cache));
  }
}

}  // namespace
}  // namespace tilewright

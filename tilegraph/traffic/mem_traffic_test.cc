#include "tilegraph/traffic/mem_traffic.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/testing/test_graphs.h"

namespace tilewright {
namespace {

constexpr double kMiB = 1024 * 1024;

MemoryLevel Memory() {
  MemoryLevel level;
  level.set_kind(MemoryLevel::MEMORY);
  return level;
}

MemoryLevel Inner(MemoryLevel::Kind kind, int64_t capacity_bytes) {
  MemoryLevel level;
  level.set_kind(kind);
  level.set_capacity_bytes(capacity_bytes);
  return level;
}

// Welder, section 2: tiles of [4, 128] move 35 KiB each, 840 MiB in all; tiles
// of [16, 128] 44 KiB, 264 MiB.
TEST(MemTrafficTest, MatmulAndSoftmaxMoveWhatThePaperSays) {
  const TensorGraph graph = MatmulSoftmax(98304, 64, 128);
  const TileGraph tiles(graph, {2, 3, 4, 5, 6});
  const Subgraph all = tiles.SubgraphOf({2, 3, 4, 5, 6});
  const MemoryLevel memory = Memory(),
                    shared = Inner(MemoryLevel::SCRATCHPAD, 96 << 10);
  MemTraffic traffic(tiles, all, memory, shared, {});
  TW_ASSERT_OK_AND_ASSIGN(const LevelCost narrow,
                          traffic.Cost({{{4, 128}, {}}, {0, 1}}, {98304, 128}));
  EXPECT_EQ(narrow.bytes(), 840 * kMiB);
  TW_ASSERT_OK_AND_ASSIGN(
      const LevelCost wide,
      traffic.Cost({{{16, 128}, {}}, {0, 1}}, {98304, 128}));
  EXPECT_EQ(wide.bytes(), 264 * kMiB);
  EXPECT_TRUE(wide.fits);
}

// All of B is used for each tile, and does not stay.
TEST(MemTrafficTest, ATileThatOverflowsACacheKeepsNothing) {
  const TensorGraph graph = MatmulSoftmax(64, 64, 128);
  const TileGraph tiles(graph, {2});
  const Subgraph product = tiles.SubgraphOf({2});
  const MemoryLevel memory = Memory();
  for (const int64_t kib : {16, 64}) {
    const MemoryLevel cache = Inner(MemoryLevel::CACHE, kib << 10);
    MemTraffic traffic(tiles, product, memory, cache, {});
    TW_ASSERT_OK_AND_ASSIGN(
        const LevelTraffic moved,
        traffic.ByOperand({{{16, 128}, {}}, {0, 1}}, {64, 128}));
    const double times = kib == 16 ? 4 : 1;
    EXPECT_EQ(moved.inputs[0], 64 * 64 * 4);
    EXPECT_EQ(moved.inputs[1], times * 64 * 128 * 4);
    EXPECT_EQ(moved.outputs[0], 64 * 128 * 4);
  }
}

// E of the softmax is twice the cache; it comes to be written and to be read.
TEST(MemTrafficTest, IntermediateTilesComeAndGoUnlessTheyFit) {
  const TensorGraph graph = MatmulSoftmax(64, 64, 128);
  const TileGraph tiles(graph, {2, 3, 4, 5, 6});
  const Subgraph all = tiles.SubgraphOf({2, 3, 4, 5, 6});
  const MemoryLevel memory = Memory();
  TrafficOptions options;
  options.in_registers = {2, 3, 5};
  for (const int64_t kib : {4, 512}) {
    const MemoryLevel cache = Inner(MemoryLevel::CACHE, kib << 10);
    MemTraffic traffic(tiles, all, memory, cache, options);
    TW_ASSERT_OK_AND_ASSIGN(
        const LevelTraffic moved,
        traffic.ByOperand({{{16, 128}, {}}, {0, 1}}, {64, 128}));
    const bool fits = kib == 512;
    EXPECT_EQ(moved.inside_once, fits ? 16 * 128 * 4 : 0);
    EXPECT_THAT(moved.inside,
                testing::ElementsAre(0, 0, fits ? 0 : 64 * 128 * 4, 0));
  }
}

TEST(MemTrafficTest, AFootprintIsThePeakOfWhatLivesTogether) {
  const TensorGraph graph = MatmulSoftmax(64, 64, 128);
  const TileGraph tiles(graph, {2, 3, 4, 5, 6});
  const Subgraph all = tiles.SubgraphOf({2, 3, 4, 5, 6});
  const MemoryLevel memory = Memory(),
                    shared = Inner(MemoryLevel::SCRATCHPAD, 45056 - 1);
  MemTraffic traffic(tiles, all, memory, shared, {});
  // A, B and C while the product is computed: 4 + 32 + 8 KiB.
  TW_ASSERT_OK_AND_ASSIGN(const LevelCost whole,
                          traffic.Cost({{{16, 128}, {}}, {0, 1}}, {64, 128}));
  EXPECT_EQ(whole.footprint_bytes, 44 << 10);
  EXPECT_FALSE(whole.fits);
  // In steps of 16 along k: 1 + 8 + 8 KiB, less than C, E, M and S need.
  TW_ASSERT_OK_AND_ASSIGN(
      const LevelCost steps,
      traffic.Cost({{{16, 128}, {{2, {16}}}}, {0, 1}}, {64, 128}));
  EXPECT_EQ(steps.footprint_bytes, 17 << 10);
  EXPECT_TRUE(steps.fits);
  EXPECT_EQ(steps.bytes(), whole.bytes());
}

// C = A * B of 64^3, tiles of 16 x 16: A 4 KiB and B 4 KiB a tile, each matrix
// 16 KiB.
class CacheTest : public ::testing::Test {
 protected:
  LevelCost CostWith(int64_t capacity_bytes, std::vector<int> order) {
    const MemoryLevel memory = Memory(),
                      cache = Inner(MemoryLevel::CACHE, capacity_bytes);
    TrafficOptions options;
    options.streaming_stores = true;
    MemTraffic traffic(tiles_, all_, memory, cache, options);
    return *traffic.Cost({{{16, 16}, {}}, std::move(order)}, {64, 64});
  }

  const TensorGraph graph_ = Matmul(64, 64, 64);
  const TileGraph tiles_{graph_, {2}};
  const Subgraph all_ = tiles_.SubgraphOf({2});
};

TEST_F(CacheTest, AStationaryOperandIsReadOnce) {
  // Room for a tile alone: A's rows stay while n moves, B comes in again for
  // every block of rows.
  const LevelCost cost = CostWith(13 << 10, {0, 1});
  EXPECT_TRUE(cost.fits);
  EXPECT_EQ(cost.footprint_bytes, (4 << 10) + (4 << 10) + (1 << 10));
  EXPECT_EQ(cost.read_bytes, (16 << 10) + 4 * (16 << 10));
  EXPECT_EQ(cost.write_bytes, 16 << 10);
  EXPECT_EQ(CostWith(13 << 10, {1, 0}).read_bytes, cost.read_bytes);
}

TEST_F(CacheTest, WhatStaysInTheCacheIsNotReadAgain) {
  // Room for all of B beside a block of rows of A and C.
  EXPECT_EQ(CostWith(34 << 10, {0, 1}).read_bytes, 2 * (16 << 10));
  EXPECT_EQ(CostWith(1 << 20, {0, 1}).read_bytes, 2 * (16 << 10));
  EXPECT_FALSE(CostWith(11 << 10, {0, 1}).fits);
}

TEST_F(CacheTest, StoresReadTheirLinesFirst) {
  const MemoryLevel memory = Memory(),
                    cache = Inner(MemoryLevel::CACHE, 1 << 20);
  MemTraffic traffic(tiles_, all_, memory, cache, {});
  TW_ASSERT_OK_AND_ASSIGN(const LevelCost cost,
                          traffic.Cost({{{16, 16}, {}}, {0, 1}}, {64, 64}));
  EXPECT_EQ(cost.read_bytes, 3 * (16 << 10));
}

TEST(MemTrafficTest, NeighbouringTilesShareTheirHaloInACache) {
  const TensorGraph graph = ConvReluPool(4, 8, 66);
  const TileGraph tiles(graph, {2, 3, 4});
  const Subgraph all = tiles.SubgraphOf({2, 3, 4});
  const MemoryLevel memory = Memory(),
                    cache = Inner(MemoryLevel::CACHE, 64 << 10);
  TrafficOptions options;
  options.streaming_stores = true;
  MemTraffic traffic(tiles, all, memory, cache, options);
  TW_ASSERT_OK_AND_ASSIGN(
      const LevelCost cost,
      traffic.Cost({{{8, 2, 32}, {}}, {0, 1, 2}}, {8, 32, 32}));
  // The tiles of C and R are read for ownership once.
  EXPECT_EQ(cost.read_bytes,
            4 * 66 * 66 * 4 + 8 * 4 * 9 * 4 + 2 * 8 * 4 * 64 * 4);
  const MemoryLevel shared = Inner(MemoryLevel::SCRATCHPAD, 64 << 10);
  MemTraffic loads(tiles, all, memory, shared, options);
  TW_ASSERT_OK_AND_ASSIGN(
      const LevelCost loaded,
      loads.Cost({{{8, 2, 32}, {}}, {0, 1, 2}}, {8, 32, 32}));
  EXPECT_EQ(loaded.read_bytes, 16 * (4 * 6 * 66 * 4 + 8 * 4 * 9 * 4));
}

}  // namespace
}  // namespace tilewright

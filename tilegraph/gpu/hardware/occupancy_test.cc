#include "tilegraph/gpu/hardware/occupancy.h"

#include <algorithm>

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

ComputeUnit UnitOf(const char* name) { return LoadSpec(name)->unit(); }

void ExpectOccupancy(const char* name, const BlockResources& block,
                     int64_t blocks, Occupancy::Limit limit) {
  const Occupancy got = OccupancyOf(UnitOf(name), block);
  EXPECT_EQ(got.blocks_per_core, blocks) << name;
  EXPECT_EQ(Name(got.limit), Name(limit)) << name;
}

TEST(OccupancyTest, CountsByHand) {
  using Limit = Occupancy::Limit;
  // V100: 2048 threads / 256.
  ExpectOccupancy("v100", {256, 32, 0}, 8, Limit::kThreads);
  // 96 registers * 32 lanes = 3072 a warp, a multiple of 256; a scheduler's
  // 16384 hold 5 warps, the core 20, of which a block needs 8.
  ExpectOccupancy("v100", {256, 96, 0}, 2, Limit::kRegisters);
  // 33 registers: 1056, rounded up to 1280; 12 warps a scheduler, 48 in all.
  ExpectOccupancy("v100", {256, 33, 0}, 6, Limit::kRegisters);
  // 48 KiB twice in 96 KiB; one byte more takes 256.
  ExpectOccupancy("v100", {128, 32, 48 * 1024}, 2, Limit::kScratchpad);
  ExpectOccupancy("v100", {128, 32, 48 * 1024 + 1}, 1, Limit::kScratchpad);
  ExpectOccupancy("v100", {128, 32, 96 * 1024 + 1}, 0, Limit::kScratchpad);
  // 32 blocks of a warp; T4 has 16.
  ExpectOccupancy("v100", {32, 16, 0}, 32, Limit::kBlocks);
  ExpectOccupancy("t4", {32, 16, 0}, 16, Limit::kBlocks);
  // A100: a block of 16 KiB takes 17 of the 164.
  ExpectOccupancy("a100", {128, 32, 16 * 1024}, 9, Limit::kScratchpad);
  ExpectOccupancy("a100", {128, 32, 163 * 1024}, 1, Limit::kScratchpad);
  // 255 registers round to 8192 a warp: 2 a scheduler, a block of 8 warps.
  ExpectOccupancy("a100", {256, 255, 0}, 1, Limit::kRegisters);
  ExpectOccupancy("a100", {512, 255, 0}, 0, Limit::kRegisters);
  ExpectOccupancy("a100", {1056, 16, 0}, 0, Limit::kThreads);
  // MI210: 128 registers * 64 lanes = 8192 of 32768 of a SIMD: 4 waves, 16 a
  // compute unit; 64 KiB of LDS.
  // 16 blocks of 4 waves would be 64; 40 fit.
  ExpectOccupancy("mi50", {256, 24, 0}, 10, Limit::kThreads);
  ExpectOccupancy("mi50", {256, 128, 0}, 2, Limit::kRegisters);
  ExpectOccupancy("mi210", {256, 128, 0}, 4, Limit::kRegisters);
  ExpectOccupancy("mi210", {256, 32, 20 * 1024}, 3, Limit::kScratchpad);
}

// Blocks are put on a core one after the other as long as all fits.
int64_t CountByPlacing(const ComputeUnit& unit, const BlockResources& block) {
  if (block.threads > unit.max_threads_per_block() ||
      block.registers_per_thread > unit.registers_per_thread() ||
      block.scratchpad_bytes > unit.scratchpad_bytes_per_block())
    return 0;
  const auto up = [](int64_t value, int64_t to) {
    while (value % to != 0) ++value;
    return value;
  };
  const int64_t warps = up(block.threads, unit.warp_size()) / unit.warp_size();
  const int64_t registers = up(block.registers_per_thread * unit.warp_size(),
                               unit.register_allocation_unit());
  const int64_t bytes =
      up(block.scratchpad_bytes + unit.scratchpad_reserved_bytes(),
         unit.scratchpad_allocation_bytes());
  if (registers * up(warps, 4) > unit.registers_per_block()) return 0;
  std::vector<int64_t> free(4, unit.registers_per_core() / 4);
  int64_t threads = 0, shared = 0, blocks = 0, next = 0;
  for (;; ++blocks) {
    threads += warps * unit.warp_size();
    shared += bytes;
    if (blocks == unit.max_blocks_per_core() ||
        threads > unit.max_threads_per_core() ||
        shared > unit.scratchpad_bytes_per_core())
      return blocks;
    for (int64_t w = 0; w < warps; ++w) {
      free[next] -= registers;
      if (free[next] < 0) return blocks;
      next = (next + 1) % 4;
    }
  }
}

TEST(OccupancyTest, EqualsPlacingBlocksOneByOne) {
  Random random(1);
  for (const char* name :
       {"v100", "t4", "a100", "h100", "mi50", "mi210", "mi300x"}) {
    const ComputeUnit unit = UnitOf(name);
    for (int i = 0; i < 2000; ++i) {
      const BlockResources block = {
          1 + random.UniformInt(0, 1099),
          1 + random.UniformInt(0, unit.registers_per_thread() + 9 - 1),
          random.Bernoulli(0.5)
              ? 0
              : random.UniformInt(0, unit.scratchpad_bytes_per_block())};
      EXPECT_EQ(OccupancyOf(unit, block).blocks_per_core,
                CountByPlacing(unit, block))
          << name << ": " << block.threads << " threads, "
          << block.registers_per_thread << " registers, "
          << block.scratchpad_bytes << " bytes";
    }
  }
}

TEST(WaveQuantisationTest, ByHand) {
  // Welder's example of a V100: 80 cores with 2 blocks each run 161 blocks in 2
  // waves of 160.
  EXPECT_EQ(Waves(160, 2, 80), 1);
  EXPECT_EQ(Waves(161, 2, 80), 2);
  // If both blocks are needed to keep a core busy: 2 waves for 161 / 160.
  EXPECT_NEAR(WaveQuantisation(161, 2, 80, 0.5), 2 / (161.0 / 160), 1e-12);
  // If one is enough, the last block takes half as long as a wave.
  EXPECT_NEAR(WaveQuantisation(161, 2, 80, 1), 1.5 / (161.0 / 160), 1e-12);
  EXPECT_EQ(WaveQuantisation(320, 2, 80, 0.5), 1);
  // A single block on 80 cores, at half the rate of its core.
  EXPECT_EQ(WaveQuantisation(1, 8, 80, 0.5), 160);
}

TEST(WaveQuantisationTest, IsAtLeastOneAndGrowsAsBlocksGetSlower) {
  for (int64_t blocks = 1; blocks < 500; blocks += 7) {
    for (const int64_t resident : {1, 2, 3, 8}) {
      double last = 1 - 1e-12;
      for (const double rate : {1.0, 0.7, 0.4, 0.1}) {
        const double q = WaveQuantisation(blocks, resident, 40, rate);
        EXPECT_GE(q, last);
        last = q;
      }
    }
  }
}

TEST(ThreadQuantisationTest, ByHand) {
  EXPECT_EQ(ThreadQuantisation(1024, 128, 32), 1);
  // 129 elements: 128 threads take two turns.
  EXPECT_NEAR(ThreadQuantisation(129, 128, 32), 256.0 / 129, 1e-12);
  // 100 threads are 4 warps.
  EXPECT_NEAR(ThreadQuantisation(100, 100, 32), 1.28, 1e-12);
}

}  // namespace
}  // namespace tilewright

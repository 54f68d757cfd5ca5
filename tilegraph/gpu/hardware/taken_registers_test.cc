#include "tilegraph/gpu/hardware/taken_registers.h"

#include <cstdint>
#include <string>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/hardware/occupancy.h"

namespace tilewright {
namespace {

// A block with the most registers is resident, one with one more is not.
TEST(TakenRegistersTest, TheMostIsWhatACoreHasRoomFor) {
  for (const std::string name : {"v100", "t4", "a100", "h100", "mi210"}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    for (int64_t threads = 16; threads <= 1024; threads += 16) {
      const int64_t most = MostRegisters(spec.unit(), threads);
      EXPECT_GT(OccupancyOf(spec.unit(), {threads, most, 0}).blocks_per_core, 0)
          << name << ", " << threads << " threads with " << most;
      EXPECT_EQ(
          OccupancyOf(spec.unit(), {threads, most + 1, 0}).blocks_per_core, 0)
          << name << ", " << threads << " threads with " << most + 1;
    }
  }
}

TEST(TakenRegistersTest, MoreThanItsValuesNeedButNoneThatAreNotThere) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("a100"));
  int64_t last = 0;
  for (int64_t live = 1; live < 400; ++live) {
    const int64_t taken = TakenRegisters(spec.unit(), live, 0, 256);
    EXPECT_GE(taken, last);
    EXPECT_LE(taken, 255);
    if (live < 200) EXPECT_GT(taken, live);
    last = taken;
  }
  EXPECT_EQ(last, 255);
  EXPECT_EQ(TakenRegisters(spec.unit(), 300, 0, 1024), 64);
}

// 32 blocks of a warp leave 64 registers to each thread, of eight warps 32: a
// core has 2048 threads and 65536 registers. Where 130 are needed, three blocks
// of four warps have up to 168; where 170 are, two up to 255. Loads take half
// of what is free.
TEST(TakenRegistersTest, LoadsTakeWhatCostsNoBlock) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("a100"));
  EXPECT_EQ(FreeRegisters(spec.unit(), 20, 32), 64);
  EXPECT_EQ(FreeRegisters(spec.unit(), 20, 256), 32);
  EXPECT_EQ(FreeRegisters(spec.unit(), 130, 128), 168);
  EXPECT_EQ(FreeRegisters(spec.unit(), 170, 128), 248);
  const auto taken = [&](int64_t with_loads, int64_t threads) {
    return TakenRegisters(spec.unit(), 14, with_loads, threads);
  };
  EXPECT_EQ(taken(14, 32), 20);
  EXPECT_EQ(taken(24, 32), 30);
  EXPECT_EQ(taken(500, 32), 42);
  EXPECT_EQ(taken(500, 256), 26);
  EXPECT_EQ(TakenRegisters(spec.unit(), 164, 500, 128), 209);
}

TEST(TakenRegistersTest, FreeRegistersCostNoBlock) {
  for (const std::string name : {"v100", "t4", "a100", "h100"}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    for (int64_t threads = 32; threads <= 1024; threads *= 2) {
      const int64_t most = MostRegisters(spec.unit(), threads);
      const auto blocks = [&](int64_t registers) {
        return OccupancyOf(spec.unit(), {threads, registers, 0})
            .blocks_per_core;
      };
      for (int64_t registers = 1; registers <= most; ++registers) {
        const int64_t free = FreeRegisters(spec.unit(), registers, threads);
        EXPECT_GE(free, registers);
        EXPECT_EQ(blocks(free), blocks(registers)) << name << ", " << threads;
        if (free + 8 <= most)
          EXPECT_LT(blocks(free + 1), blocks(registers))
              << name << ", " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright

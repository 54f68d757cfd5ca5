#include "backends/cuda/codegen/launch_bounds.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/hardware/occupancy.h"
#include "tilegraph/gpu/hardware/taken_registers.h"

namespace tilewright::cuda {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMany = 100000;  // blocks, more than all cores hold

// Shared memory leaves three blocks of two warps, whose threads have all
// registers that there are; up to 170 where five are, and so on.
TEST(LaunchBoundsTest, ResidentOnesThenFewerRegisters) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("h100"));
  EXPECT_THAT(BlocksToLeaveRoomFor(spec.unit(), {64, 64, 73856}, kMany),
              ElementsAre(3, 5, 7, 9, 11, 13));
}

// Of 112 blocks each of 132 cores gets one: shared memory would hold nine.
TEST(LaunchBoundsTest, NoMoreThanACoreGets) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("h100"));
  EXPECT_THAT(BlocksToLeaveRoomFor(spec.unit(), {64, 80, 23424}, 112),
              ElementsAre(1, 5, 7, 9));
}

// Registers leave two blocks; with one resident there are more.
TEST(LaunchBoundsTest, WhereRegistersAreShortFewerBlocks) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("h100"));
  EXPECT_THAT(BlocksToLeaveRoomFor(spec.unit(), {256, 128, 0}, kMany),
              ElementsAre(2, 1));
  EXPECT_THAT(BlocksToLeaveRoomFor(spec.unit(), {1024, 64, 0}, kMany),
              ElementsAre(1));
}

// What is tried first costs no resident block, and nothing is tried twice.
TEST(LaunchBoundsTest, NothingIsTriedTwice) {
  for (const std::string name : {"t4", "a100", "h100"}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    for (int64_t threads = 32; threads <= 1024; threads += 32) {
      for (const int64_t registers : {32, 40, 64}) {
        const BlockResources spilled = {threads, registers, 20000};
        const std::vector<int64_t> blocks =
            BlocksToLeaveRoomFor(spec.unit(), spilled, kMany);
        EXPECT_EQ(blocks.front(),
                  OccupancyOf(spec.unit(), spilled).blocks_per_core);
        std::set<int64_t> limits;
        for (const int64_t count : blocks)
          limits.insert(MostRegisters(spec.unit(), count * threads));
        EXPECT_EQ(limits.size(), blocks.size()) << name << ", " << threads;
        EXPECT_GE(*limits.begin(), registers);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::cuda

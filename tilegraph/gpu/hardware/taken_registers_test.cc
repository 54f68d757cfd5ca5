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
    const int64_t taken = TakenRegisters(spec.unit(), live, 256);
    EXPECT_GE(taken, last);
    EXPECT_LE(taken, 255);
    if (live < 200) EXPECT_GT(taken, live);
    last = taken;
  }
  EXPECT_EQ(last, 255);
  EXPECT_EQ(TakenRegisters(spec.unit(), 300, 1024), 64);
}

}  // namespace
}  // namespace tilewright

#include "backends/spec/with_cores.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

DeviceSpec V4() { return LoadSpec("cpu_x86_64_v4").value(); }  // of 4 cores

TEST(WithCoresTest, EveryCoreHasItsCachesAndAllShareTheRest) {
  const DeviceSpec spec = WithCores(V4(), 64);
  TW_EXPECT_OK(ValidateSpec(spec));
  EXPECT_EQ(spec.unit().cores(), 64);
  EXPECT_EQ(FindLevel(spec, "l2")->instances(), 64);
  EXPECT_EQ(FindLevel(spec, "l2")->cores_sharing(), 1);
  EXPECT_EQ(FindLevel(spec, "l3")->instances(), 1);
  EXPECT_EQ(FindLevel(spec, "l3")->cores_sharing(), 64);
  EXPECT_EQ(FindLevel(spec, "l3")->capacity_bytes(),
            FindLevel(V4(), "l3")->capacity_bytes());
}

TEST(WithCoresTest, MemoryGivesMoreCoresNoMoreAndFewerLess) {
  const double four = FindLevel(V4(), "dram")->aggregate_read_bytes_per_s();
  const DeviceSpec many = WithCores(V4(), 64), one = WithCores(V4(), 1);
  EXPECT_DOUBLE_EQ(FindLevel(many, "dram")->aggregate_read_bytes_per_s(), four);
  EXPECT_DOUBLE_EQ(FindLevel(one, "dram")->aggregate_read_bytes_per_s(),
                   four / 4);
  EXPECT_DOUBLE_EQ(FindLevel(many, "l2")->aggregate_read_bytes_per_s(),
                   16 * FindLevel(V4(), "l2")->aggregate_read_bytes_per_s());
}

TEST(WithCoresTest, CachesOfASingleCoreStayItsOwn) {
  const DeviceSpec again = WithCores(WithCores(V4(), 1), 8);
  EXPECT_EQ(FindLevel(again, "l2")->cores_sharing(), 1);
  EXPECT_EQ(FindLevel(again, "l2")->instances(), 8);
  EXPECT_EQ(FindLevel(again, "l3")->cores_sharing(), 8);
}

TEST(WithCoresTest, TheSameNumberChangesNothing) {
  EXPECT_EQ(WithCores(V4(), 4).DebugString(), V4().DebugString());
}

}  // namespace
}  // namespace tilewright

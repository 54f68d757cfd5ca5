#include "backends/fake/device/shared_device.h"

#include <limits>
#include <optional>

#include "gtest/gtest.h"

namespace tilewright::fake {
namespace {

TEST(SlowdownTest, ByHand) {
  EXPECT_DOUBLE_EQ(Slowdown(0.5, 0.3, 1), 1.02);
  EXPECT_DOUBLE_EQ(Slowdown(0.9, 0.6, 3), 1.06);
  EXPECT_DOUBLE_EQ(Slowdown(1.5, 0.9, 3), 1.5 * 1.06);
  EXPECT_DOUBLE_EQ(Slowdown(1.5, 2.5, 5), 2.5 * 1.1);
}

TEST(SharedDeviceTest, AKernelAloneTakesItsBaseLatencyAndTwoPercent) {
  SharedDevice device;
  const SharedDevice::KernelId kernel = device.Start({0.3, 0.9}, 1000);
  ASSERT_TRUE(device.Next().has_value());
  EXPECT_EQ(device.Next()->kernel, kernel);
  EXPECT_DOUBLE_EQ(device.Finish().time_ns, 1020);
  EXPECT_DOUBLE_EQ(device.now_ns(), 1020);
  EXPECT_EQ(device.running(), 0);
  EXPECT_EQ(device.Next(), std::nullopt);
}

// a (u 0.8) and b (u 0.7), 1000 each, b half of a's way later. a alone to 510:
// 500 left. Together they are slower by 1.5 * 1.04 = 1.56: a ends 780 later, at
// 1290, and b has 500 left, which it does alone in 510.
TEST(SharedDeviceTest, TwoThatDoNotFitShareTheDevice) {
  SharedDevice device;
  const SharedDevice::KernelId a = device.Start({0.8, 0}, 1000);
  device.AdvanceTo(510);
  const SharedDevice::KernelId b = device.Start({0.7, 0}, 1000);
  SharedDevice::Completion end = device.Finish();
  EXPECT_EQ(end.kernel, a);
  EXPECT_DOUBLE_EQ(end.time_ns, 1290);
  end = device.Finish();
  EXPECT_EQ(end.kernel, b);
  EXPECT_DOUBLE_EQ(end.time_ns, 1800);
}

TEST(SharedDeviceTest, TwoThatFitDisturbEachOtherLittle) {
  SharedDevice device;
  device.Start({0.5, 0.2}, 1000);
  device.Start({0.5, 0.8}, 1000);
  EXPECT_DOUBLE_EQ(device.Finish().time_ns, 1040);
  EXPECT_DOUBLE_EQ(device.Finish().time_ns, 1040);
}

// The hang takes its share until it is killed at 1000; then 1000/2.08 are done.
TEST(SharedDeviceTest, AHangOccupiesTheDeviceUntilItIsKilled) {
  SharedDevice device;
  const SharedDevice::KernelId hang =
      device.Start({1, 1}, std::numeric_limits<double>::infinity());
  EXPECT_EQ(device.Next(), std::nullopt);
  const SharedDevice::KernelId kernel = device.Start({1, 1}, 1000);
  device.AdvanceTo(1000);
  device.Stop(hang);
  ASSERT_TRUE(device.Next().has_value());
  EXPECT_EQ(device.Next()->kernel, kernel);
  EXPECT_DOUBLE_EQ(device.Finish().time_ns, 1000 + (1000 - 1000 / 2.08) * 1.02);
}

TEST(SharedDeviceTest, TimePassesWithoutKernels) {
  SharedDevice device;
  device.AdvanceTo(700);
  device.Start({1, 1}, 100);
  EXPECT_DOUBLE_EQ(device.Finish().time_ns, 802);
}

}  // namespace
}  // namespace tilewright::fake

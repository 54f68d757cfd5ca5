#include "tools/host/retention.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/machine/memory_loops.h"

namespace tilewright::tools {
namespace {

TEST(RetentionTest, HalfIsGoneBetweenTheWaitsAroundIt) {
  EXPECT_DOUBLE_EQ(
      RetentionNs({{1e6, 0.9}, {2e6, 0.6}, {4e6, 0.4}, {8e6, 0.1}}), 3e6);
  EXPECT_EQ(RetentionNs({{1e6, 0.5}}), 1e6);
  EXPECT_EQ(RetentionNs({{1e6, 0}}), 0.5e6);
}

TEST(RetentionTest, WhatStaysIsKeptForEver) {
  EXPECT_EQ(RetentionNs({{1e6, 1}, {64e6, 0.7}}), 0);
  EXPECT_EQ(RetentionNs({}), 0);
}

// Shares of a small cache, which this machine need not have: what they are is
// nobody's test.
TEST(RetentionTest, WaitsAscendAndSharesAreSharesOfOne) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  spec.mutable_levels(1)->set_capacity_bytes(1 << 20);
  constexpr int64_t kBytes = int64_t{4} << 20;
  const auto memory = measure::AllocateTouched(kBytes);
  double wait_ns = 0;
  for (const HostFacts::Retention& point :
       RetentionsOf(spec, memory.get(), kBytes)) {
    EXPECT_GT(point.wait_ns, wait_ns);
    EXPECT_GE(point.kept, 0);
    EXPECT_LE(point.kept, 1);
    wait_ns = point.wait_ns;
  }
  EXPECT_TRUE(RetentionsOf(spec, memory.get(), 1 << 20).empty());
}

}  // namespace
}  // namespace tilewright::tools

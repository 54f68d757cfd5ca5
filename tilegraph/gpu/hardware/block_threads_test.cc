#include "tilegraph/gpu/hardware/block_threads.h"

#include <algorithm>

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(BlockThreadsTest, CommonDivisorsNearFourWarpsComeFirst) {
  const ComputeUnit unit = LoadSpec("v100")->unit();
  // Welder's example: tiles of [16, 128] of a product and of a softmax, whose
  // rows are reduced by a warp each: gcd(2048, 16 * 32) = 512, and of its
  // factors 128 is one warp for each scheduler.
  const auto sizes = CommonBlockThreads({{2048, 1}, {512, 1}}, unit);
  EXPECT_EQ(sizes[0].threads, 128);
  EXPECT_EQ(sizes[0].efficiency, 1);
  EXPECT_TRUE(std::any_of(sizes.begin(), sizes.end(), [](const auto& s) {
    return s.threads == 512 && s.efficiency == 1;
  }));
  // 96 = 3 warps divide 288; 128 would take 3 turns for 2.25.
  EXPECT_EQ(CommonBlockThreads({{288, 1}}, unit)[0].threads, 96);
  // A small part need not divide: it has little work.
  EXPECT_EQ(CommonBlockThreads({{4096, 100}, {48, 1}}, unit)[0].threads, 128);
  // 4 waves of 64.
  EXPECT_EQ(
      CommonBlockThreads({{4096, 1}}, LoadSpec("mi210")->unit())[0].threads,
      256);
}

TEST(BlockThreadsTest, WholeWarpsWithinTheLimits) {
  Random random(7);
  for (const char* name : {"v100", "mi300x"}) {
    const ComputeUnit unit = LoadSpec(name)->unit();
    for (int i = 0; i < 100; ++i) {
      std::vector<BlockWork> works;
      for (int64_t n = random.UniformInt(1, 4); n > 0; --n)
        works.push_back({random.UniformInt(1, 5000), random.Uniform(0.1, 9)});
      const auto sizes = CommonBlockThreads(works, unit);
      ASSERT_FALSE(sizes.empty());
      for (const BlockThreads& size : sizes) {
        EXPECT_EQ(size.threads % unit.warp_size(), 0);
        EXPECT_LE(size.threads, unit.max_threads_per_block());
        EXPECT_LE(size.efficiency, 1 + 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright

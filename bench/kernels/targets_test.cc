#include "bench/kernels/targets.h"

#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kCacheBytes = 1 << 20;

TEST(TargetsTest, SharesOfThePeakForWhatComputes) {
  const Case small{"gemm", Gemm{512, 512, 512}},
      large{"gemm", Gemm{128, 768, 3072}},
      strided{"conv", Conv{64, 128, 56, 3, 2}},
      conv{"conv", Conv{64, 64, 56, 3}};
  const Shares shares{0.85, 0.85, 0, 0};
  EXPECT_EQ(CompareToTarget(small, shares, kCacheBytes), Verdict::kMissed);
  EXPECT_EQ(CompareToTarget(large, shares, kCacheBytes), Verdict::kMet);
  EXPECT_EQ(CompareToTarget(strided, shares, kCacheBytes), Verdict::kMet);
  EXPECT_EQ(CompareToTarget(conv, shares, kCacheBytes), Verdict::kMissed);
}

TEST(TargetsTest, DepthwiseHasTwoWaysToMeetItsTarget) {
  const Case one{"depthwise", Conv{32, 32, 56, 3, 1, 32}};
  EXPECT_EQ(CompareToTarget(one, {0.3, 0.59, 0, 1.9}, kCacheBytes),
            Verdict::kMissed);
  EXPECT_EQ(CompareToTarget(one, {0.3, 0.61, 0, 0}, kCacheBytes),
            Verdict::kMet);
  EXPECT_EQ(CompareToTarget(one, {0.3, 0.4, 0, 2.1}, kCacheBytes),
            Verdict::kMet);
}

TEST(TargetsTest, MoversAreVerifiedBeyondTheCache) {
  const Case inside{"softmax", Softmax{16, 16}},
      beyond{"softmax", Softmax{4096, 1024}};
  const Shares shares{0, 0.5, 0.7, 0};
  EXPECT_EQ(CompareToTarget(inside, shares, kCacheBytes), Verdict::kNone);
  EXPECT_EQ(CompareToTarget(beyond, shares, kCacheBytes), Verdict::kMissed);
  EXPECT_EQ(CompareToTarget(beyond, {0, 0.5, 0.8, 0}, kCacheBytes),
            Verdict::kMet);
}

}  // namespace
}  // namespace tilewright::bench

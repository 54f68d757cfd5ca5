#include "bench/compare/allowed_limit.h"

#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

TEST(AllowedLimitTest, NothingAllowedIsTheLimitOfFp32) {
  EXPECT_EQ(AllowedFactor({}), 1);
}

TEST(AllowedLimitTest, LessExactKernelsMayErrByWhatTheirBoundsGrowBy) {
  EXPECT_EQ(AllowedFactor({"winograd4"}), 16);
  EXPECT_EQ(AllowedFactor({"bf16"}), 32768);
  EXPECT_EQ(AllowedFactor({"bf16", "winograd4"}), 16 * 32768);
}

}  // namespace
}  // namespace tilewright::bench

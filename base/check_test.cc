#include "base/check.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

enum class Color { kRed = 3 };

TEST(CheckTest, PassingChecksEvaluateTheirOperandsOnce) {
  int count = 0;
  TW_CHECK(++count == 1);
  TW_CHECK_EQ(++count, 2);
  TW_CHECK_OK((++count, absl::OkStatus()));
  EXPECT_EQ(count, 3);
}

TEST(CheckTest, IntegersOfDifferentSignCompareByValue) {
  std::vector<int> two(2);
  TW_CHECK_EQ(two.size(), 2);
  TW_CHECK_LT(-1, two.size());
  TW_CHECK_GT(two.size(), -1);
  TW_CHECK_NE(std::numeric_limits<uint64_t>::max(), int64_t{-1});
  TW_CHECK_LE(int64_t{-1}, uint64_t{0});
  TW_CHECK_GE(uint64_t{1} << 63, std::numeric_limits<int64_t>::max());
  TW_CHECK(Color::kRed == Color::kRed) << "never printed";
}

TEST(CheckTest, ChecksNestInIfWithoutElseTrouble) {
  bool reached = false;
  if (reached)
    TW_CHECK(false);
  else
    reached = true;
  EXPECT_TRUE(reached);
}

TEST(CheckDeathTest, AFailureNamesPlaceConditionValuesAndReason) {
  EXPECT_DEATH(TW_CHECK(1 > 2) << "because " << 5,
               "base/check_test.cc:[0-9]+: check failed: 1 > 2 because 5");
  EXPECT_DEATH(TW_CHECK_EQ(1 + 1, 3), "1 \\+ 1 == 3 \\(2 vs. 3\\)");
  EXPECT_DEATH(TW_CHECK_NE(Color::kRed, Color::kRed), "\\(3 vs. 3\\)");
  EXPECT_DEATH(TW_CHECK_OK(absl::InternalError("boom")), "INTERNAL: boom");
  EXPECT_DEATH(TW_CHECK_OK(absl::StatusOr<int>(absl::InternalError("bang"))),
               "INTERNAL: bang");
}

#ifdef NDEBUG
TEST(CheckTest, DebugChecksAreNotEvaluatedUnderNdebug) {
  int count = 0;
  TW_DCHECK_EQ(++count, 7);
  EXPECT_EQ(count, 0);
}
#else
TEST(CheckDeathTest, DebugChecksFailWithoutNdebug) {
  EXPECT_DEATH(TW_DCHECK_EQ(1, 2), "1 == 2");
}
#endif

}  // namespace
}  // namespace tilewright

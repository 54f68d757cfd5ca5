#include "sketch/trace/fused_wishes.h"

#include <cstdint>
#include <string>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/testing/fused_workloads.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;

TEST(FusedWishesTest, TheirTextParsesBack) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string text = DrawFused(seed).plan.ToString();
    TW_ASSERT_OK_AND_ASSIGN(const FusedWishes wishes, FusedWishes::Parse(text));
    EXPECT_EQ(wishes.ToString(), text);
  }
  TW_ASSERT_OK_AND_ASSIGN(const FusedWishes none,
                          FusedWishes::Parse(FusedWishes().ToString()));
  EXPECT_TRUE(none.tile.empty());
  EXPECT_TRUE(none.stages.empty());
}

TEST(FusedWishesTest, OtherLinesAreRefused) {
  for (const char* line :
       {"tile 1x0", "tile 1,2", "stage (4) [d0]", "stage (4) [d0] by many",
        "stage (4) [d7] by 2", "tiles 4", "tile 4\ntile 4"}) {
    EXPECT_THAT(FusedWishes::Parse(line).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is no wish of a fused group")))
        << line;
  }
}

}  // namespace
}  // namespace tilewright::sketch

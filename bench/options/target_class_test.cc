#include "bench/options/target_class.h"

#include <stdlib.h>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

TEST(TargetClassTest, LevelsAreReadWithAndWithoutTheirPrefix) {
  TW_ASSERT_OK_AND_ASSIGN(const TargetClass v3, ParseTargetClass("x86-64-v3"));
  EXPECT_EQ(v3.name, "x86-64-v3");
  EXPECT_EQ(v3.vector_bytes, 32);
  EXPECT_TRUE(v3.limits());
  TW_ASSERT_OK_AND_ASSIGN(const TargetClass v2, ParseTargetClass("v2"));
  EXPECT_EQ(v2.name, "x86-64-v2");
  EXPECT_EQ(v2.vector_bytes, 16);
  TW_ASSERT_OK_AND_ASSIGN(const TargetClass v4, ParseTargetClass("v4"));
  EXPECT_EQ(v4.vector_bytes, 64);
  EXPECT_FALSE(TargetClass().limits());
}

TEST(TargetClassTest, OthersAreRefusedWithWhatThereIs) {
  for (const char* text : {"", "v5", "x86-64", "x86-64-v4-bf16", "avx2"}) {
    EXPECT_THAT(ParseTargetClass(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "give x86-64-v2, x86-64-v3 or x86-64-v4"))
        << text;
  }
}

// Every host that runs this is of the smallest class.
TEST(TargetClassTest, TheHostTakesTheVectorsOfTheClass) {
  TW_ASSERT_OK_AND_ASSIGN(const TargetClass v2, ParseTargetClass("v2"));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec limited, SpecOf(v2));
  EXPECT_EQ(limited.target(), "cpu:x86-64-v2");
  EXPECT_EQ(limited.unit().vector_bytes(), 16);
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec host, SpecOf({}));
  EXPECT_EQ(limited.unit().cores(), host.unit().cores());
}

TEST(TargetClassTest, PeersAreLimitedToTheSameInstructions) {
  unsetenv("ONEDNN_MAX_CPU_ISA");
  LimitPeers({});
  EXPECT_EQ(getenv("ONEDNN_MAX_CPU_ISA"), nullptr);
  TW_ASSERT_OK_AND_ASSIGN(const TargetClass v3, ParseTargetClass("v3"));
  LimitPeers(v3);
  EXPECT_STREQ(getenv("ONEDNN_MAX_CPU_ISA"), "AVX2");
  EXPECT_STREQ(getenv("DNNL_MAX_CPU_ISA"), "AVX2");
  EXPECT_STREQ(getenv("OPENBLAS_CORETYPE"), "Haswell");
}

}  // namespace
}  // namespace tilewright::bench

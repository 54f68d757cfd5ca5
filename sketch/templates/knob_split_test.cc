// The sizes that TVM's own tests expect (tests/python/autotvm/
// test_autotvm_space.py).
#include "sketch/templates/knob_split.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

using ::testing::ElementsAre;
using Policy = KnobSplit::Policy;

size_t Count(int64_t extent, int parts, Policy policy) {
  return KnobSplit(extent, parts, policy).space().Values(1000).size();
}

TEST(KnobSplitTest, HasTvmsSizes) {
  EXPECT_EQ(Count(256, 3, Policy::kFactors), 45u);
  EXPECT_EQ(Count(256, 3, Policy::kPower2), 45u);
  EXPECT_EQ(Count(256, 3, Policy::kVerbose), 45u);
  EXPECT_EQ(Count(224, 3, Policy::kFactors), 63u);
  EXPECT_EQ(Count(224, 3, Policy::kPower2), 36u);
  EXPECT_EQ(Count(224, 3, Policy::kVerbose), 84u);
  EXPECT_EQ(Count(128, 2, Policy::kFactors), 8u);
}

TEST(KnobSplitTest, FallsBackAsTvmDoes) {
  const KnobSplit even(128, 3, Policy::kFactors);
  EXPECT_THAT(even.Parts(even.Fallback({8, 4})), ElementsAre(4, 8, 4));
  const KnobSplit odd(49, 3, Policy::kFactors);
  EXPECT_THAT(odd.Parts(odd.Fallback({8, 4})), ElementsAre(7, 7, 1));
}

TEST(KnobSplitTest, PartsCoverTheExtent) {
  for (const Policy policy :
       {Policy::kFactors, Policy::kPower2, Policy::kVerbose}) {
    for (int64_t extent = 1; extent < 40; ++extent) {
      const KnobSplit split(extent, 3, policy, 16);
      for (const DecisionValue& value : split.space().Values(1000)) {
        const Factors parts = split.Parts(value);
        const int64_t inner = parts[1] * parts[2];
        EXPECT_LE(parts[2], 16);
        EXPECT_GE(parts[0] * inner, extent);
        EXPECT_LT((parts[0] - 1) * inner, extent);
        if (policy == Policy::kFactors) EXPECT_EQ(parts[0] * inner, extent);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::sketch

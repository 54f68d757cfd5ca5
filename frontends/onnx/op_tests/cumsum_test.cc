// CumSum beside running sums, on axes shorter and longer than its blocks.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// `x` is [outer, extent, inner], summed along the middle.
Values RunningSums(const Given& x, bool reverse, bool exclusive) {
  const int64_t extent = x.shape[1], inner = x.shape[2];
  Values sums(x.values.size());
  for (int64_t o = 0; o < x.shape[0]; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      float sum = 0;
      for (int64_t step = 0; step < extent; ++step) {
        const int64_t k = reverse ? extent - 1 - step : step;
        const auto at = static_cast<size_t>((o * extent + k) * inner + i);
        sums[at] = exclusive ? sum : sum + x.values[at];
        sum += x.values[at];
      }
    }
  }
  return sums;
}

TEST(CumSumTest, EqualsRunningSumsAtEveryLength) {
  Random random(1);
  // In one piece; a level of blocks, the last whole or not; and several.
  for (const int64_t extent : {1, 3, 8, 9, 16, 33, 35, 100, 512, 5000}) {
    for (const bool reverse : {false, true}) {
      for (const bool exclusive : {false, true}) {
        SCOPED_TRACE(testing::Message() << extent << (reverse ? " reverse" : "")
                                        << (exclusive ? " exclusive" : ""));
        const Given x =
            SmallIntegers({2, extent, extent > 600 ? 1 : 3}, random);
        ExpectNear(RunNode(17, "CumSum", {x}, {{1}},
                           [&](NodeBuilder n) {
                             n.Int("reverse", reverse ? 1 : 0)
                                 .Int("exclusive", exclusive ? 1 : 0);
                           }),
                   x.shape, RunningSums(x, reverse, exclusive));
      }
    }
  }
}

TEST(CumSumTest, CountsAxesFromTheEnd) {
  Random random(2);
  const Given x = SmallIntegers({4, 40, 2}, random);
  ExpectNear(RunNode(17, "CumSum", {x}, {{-2}}), x.shape,
             RunningSums(x, false, false));
}

// What is not a number stays where sums take it.
TEST(CumSumTest, InfinitiesDoNotReachTheSumsBeforeThem) {
  constexpr int64_t kExtent = 100, kAt = 70;
  Given x = Count({1, kExtent, 1});
  x.values[kAt] = std::numeric_limits<float>::infinity();
  const Outcome found = RunNode(17, "CumSum", {x}, {{1}});
  ASSERT_EQ(found.values.size(), kExtent);
  for (int64_t i = 0; i < kExtent; ++i) {
    EXPECT_EQ(std::isinf(found.values[static_cast<size_t>(i)]), i >= kAt) << i;
  }
}

}  // namespace
}  // namespace tilewright

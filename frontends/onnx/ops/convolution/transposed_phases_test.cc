// The ranges of phases beside every output of small dimensions.
#include "frontends/onnx/ops/convolution/transposed_phases.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/ops/window.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

WindowDim Dimension(int64_t kernel, int64_t stride, int64_t pad_before,
                    int64_t output) {
  WindowDim dim;
  dim.kernel = kernel;
  dim.stride = stride;
  dim.pad_before = pad_before;
  dim.output = output;
  return dim;
}

template <typename Check>
void ForEachSmallDimension(const Check& check) {
  for (int64_t kernel = 1; kernel <= 6; ++kernel) {
    for (int64_t stride = 1; stride <= 5; ++stride) {
      for (int64_t pad = 0; pad <= 7; ++pad) {
        for (int64_t output = 1; output <= 12; ++output) {
          SCOPED_TRACE(absl::StrCat("kernel ", kernel, " stride ", stride,
                                    " pad ", pad, " output ", output));
          check(Dimension(kernel, stride, pad, output));
        }
      }
    }
  }
}

TEST(PhaseRangesTest, EveryOutputIsInOneRangeWithItsTaps) {
  ForEachSmallDimension([](const WindowDim& dim) {
    for (const bool split : {false, true}) {
      const std::vector<PhaseRange> ranges = PhaseRanges(dim, split);
      for (int64_t o = 0; o < dim.output; ++o) {
        const int64_t place = o + dim.pad_before;
        const int64_t q = place / dim.stride, r = place % dim.stride;
        int64_t taps = 0;
        for (int64_t k = r; k < dim.kernel; k += dim.stride) ++taps;
        EXPECT_EQ(std::count_if(ranges.begin(), ranges.end(),
                                [&](const PhaseRange& range) {
                                  return range.first <= r && r < range.end &&
                                         range.begin <= q &&
                                         q < range.begin + range.count &&
                                         range.taps == taps;
                                }),
                  1)
            << "output " << o;
      }
    }
  });
}

TEST(PhaseRangesTest, SplitRangesComputeOutputsOnly) {
  ForEachSmallDimension([](const WindowDim& dim) {
    int64_t computed = 0;
    for (const PhaseRange& range : PhaseRanges(dim, /*split=*/true))
      computed += range.phases() * range.count;
    EXPECT_EQ(computed, dim.output);
  });
}

// Most models: every other output has two taps or one, or all have two.
TEST(PhaseRangesTest, KernelsOfThreeAndFour) {
  const std::vector<PhaseRange> three =
      PhaseRanges(Dimension(3, 2, 1, 8), false);
  ASSERT_EQ(three.size(), 2u);
  EXPECT_EQ(three[0].taps, 2);
  EXPECT_EQ(three[1].taps, 1);
  EXPECT_EQ(three[0].count, 4);
  EXPECT_EQ(three[1].count, 4);
  const std::vector<PhaseRange> four =
      PhaseRanges(Dimension(4, 2, 1, 8), false);
  ASSERT_EQ(four.size(), 1u);
  EXPECT_EQ(four[0].taps, 2);
  EXPECT_EQ(four[0].count, 5);  // one more than outputs of either phase
}

}  // namespace
}  // namespace tilewright

#include "tilegraph/expr/host_tensor.h"

#include <cmath>
#include <limits>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(HalfTest, EveryHalfConvertsToFloatAndBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(value))));
    } else {
      EXPECT_EQ(FloatToHalf(value), half);
    }
  }
}

// Between two neighbours everything goes to the nearer one, the middle to the
// even one.
TEST(HalfTest, RoundsToNearestEvenBetweenAllNeighbours) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const float low = HalfToFloat(static_cast<uint16_t>(bits)),
                high = HalfToFloat(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // Exact.
    EXPECT_EQ(FloatToHalf(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(FloatToHalf(std::nextafterf(middle, 0)), bits);
    EXPECT_EQ(FloatToHalf(std::nextafterf(middle, 1e9f)), bits + 1);
  }
  EXPECT_EQ(FloatToHalf(65504), 0x7bff);
  EXPECT_EQ(FloatToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520), 0x7c00);
  EXPECT_EQ(FloatToHalf(-1e30f), 0xfc00);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0);
  EXPECT_EQ(FloatToHalf(std::nextafterf(0x1p-25f, 1)), 1);
}

TEST(BFloat16Test, RoundsToNearestEven) {
  EXPECT_EQ(FloatToBFloat16(1.0f), 0x3f80);
  EXPECT_EQ(FloatToBFloat16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(FloatToBFloat16(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(std::nanf("")))));
  for (int bits = 0; bits < 0x7f80; ++bits) {
    EXPECT_EQ(FloatToBFloat16(BFloat16ToFloat(static_cast<uint16_t>(bits))),
              bits);
  }
}

TEST(RoundToTest, RoundsOnceFromDouble) {
  // Through float this would round up twice.
  const double just_below_tie = 1.0 + 0x1p-11 - 0x1p-40;
  EXPECT_EQ(RoundTo(DType::kFloat16, Scalar{just_below_tie, 0}).f, 1.0);
  EXPECT_EQ(RoundTo(DType::kFloat16, Scalar{1.0 + 0x1p-11 + 0x1p-40, 0}).f,
            1.0 + 0x1p-10);
  EXPECT_EQ(RoundTo(DType::kBFloat16, Scalar{1.0 + 0x1p-8 + 0x1p-40, 0}).f,
            1.0 + 0x1p-7);
  EXPECT_EQ(RoundTo(DType::kBFloat16, Scalar{1e39, 0}).f, kInf);
  EXPECT_EQ(RoundTo(DType::kFloat32, Scalar{1e300, 0}).f, kInf);
  EXPECT_TRUE(std::signbit(RoundTo(DType::kFloat16, Scalar{-1e-30, 0}).f));
  Random random(7);
  for (int i = 0; i < 100000; ++i) {
    const float value = static_cast<float>(
        random.Normal() *
        std::ldexp(1.0, static_cast<int>(random.UniformInt(-30, 18))));
    EXPECT_EQ(RoundTo(DType::kFloat16, Scalar{value, 0}).f,
              HalfToFloat(FloatToHalf(value)))
        << value;
    EXPECT_EQ(RoundTo(DType::kBFloat16, Scalar{value, 0}).f,
              BFloat16ToFloat(FloatToBFloat16(value)))
        << value;
  }
}

TEST(RoundToTest, IntegersWrap) {
  EXPECT_EQ(RoundTo(DType::kInt8, Scalar{0, 200}).i, -56);
  EXPECT_EQ(RoundTo(DType::kUInt16, Scalar{0, -1}).i, 65535);
  EXPECT_EQ(RoundTo(DType::kBool, Scalar{0, 4}).i, 1);
  EXPECT_EQ(RoundTo(DType::kUInt64, Scalar{0, -1}).i, -1);
}

TEST(HostTensorTest, EveryDTypeHoldsWhatWasSet) {
  for (int i = 0; i <= static_cast<int>(DType::kFloat64); ++i) {
    const DType dtype = static_cast<DType>(i);
    HostTensor tensor(dtype, {2, 3});
    EXPECT_EQ(tensor.num_elements(), 6);
    EXPECT_EQ(tensor.size_bytes(), 6 * SizeBytes(dtype));
    EXPECT_EQ(tensor.Get(5).f, 0);
    EXPECT_EQ(tensor.Get(5).i, 0);
    const Scalar value{IsFloat(dtype) ? -1.5 : 0, IsFloat(dtype) ? 0 : -3};
    tensor.Set(4, value);
    EXPECT_EQ(tensor.Get(4).f, RoundTo(dtype, value).f) << Name(dtype);
    EXPECT_EQ(tensor.Get(4).i, RoundTo(dtype, value).i) << Name(dtype);
    EXPECT_EQ(tensor.Get(3).i, 0);
    EXPECT_EQ(tensor.Get(5).i, 0);
  }
  EXPECT_EQ(HostTensor(DType::kFloat32, {}).num_elements(), 1);
}

TEST(HostTensorDeathTest, ElementsOutsideAreOurBug) {
  HostTensor tensor(DType::kFloat32, {2});
  EXPECT_DEATH(tensor.Get(2), "element 2 of 2");
  EXPECT_DEATH(tensor.Set(-1, {}), "element -1 of 2");
}

}  // namespace
}  // namespace tilewright

#include "frontends/onnx/graph/narrow_integers.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TEST(NarrowIntegers, AreOfTwoAndFourBits) {
  EXPECT_EQ(NarrowIntegerOf(21)->bits, 4);
  EXPECT_EQ(NarrowIntegerOf(22)->dtype, DType::kInt8);
  EXPECT_EQ(NarrowIntegerOf(25)->dtype, DType::kUInt8);
  EXPECT_EQ(NarrowIntegerOf(26)->bits, 2);
  EXPECT_FALSE(NarrowIntegerOf(onnx::TensorProto::INT8).has_value());
  EXPECT_FALSE(NarrowIntegerOf(-1).has_value());
}

TEST(NarrowIntegers, TheFirstLiesInTheLowestBits) {
  HostTensor two(DType::kInt8, {5});
  UnpackIntegers("\x21\x83\x0f", 4, two);
  EXPECT_THAT(two.as<int8_t>(), ElementsAre(1, 2, 3, -8, -1));
  HostTensor four(DType::kUInt8, {5});
  UnpackIntegers("\xe4\x02", 2, four);
  EXPECT_THAT(four.as<uint8_t>(), ElementsAre(0, 1, 2, 3, 2));
}

// Every value at every place of a byte, by arithmetic instead of bits.
TEST(NarrowIntegers, AllBytes) {
  for (const int bits : {2, 4}) {
    for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
      const int values = 1 << bits;
      for (int byte = 0; byte < 256; ++byte) {
        HostTensor tensor(dtype, {8 / bits});
        UnpackIntegers(std::string(1, static_cast<char>(byte)), bits, tensor);
        int left = byte;
        for (int64_t i = 0; i < tensor.num_elements(); ++i) {
          int value = left % values;
          if (dtype == DType::kInt8 && value >= values / 2) value -= values;
          EXPECT_EQ(tensor.Get(i).i, value) << byte << " " << i;
          left /= values;
        }
      }
    }
  }
}

TEST(NarrowIntegers, TheLastByteMayBeHalfEmpty) {
  EXPECT_EQ(PackedBytes(0, 4), 0);
  EXPECT_EQ(PackedBytes(1, 4), 1);
  EXPECT_EQ(PackedBytes(2, 4), 1);
  EXPECT_EQ(PackedBytes(5, 2), 2);
}

}  // namespace
}  // namespace tilewright

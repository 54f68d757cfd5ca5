// DeformConv beside Conv where no tap is moved, and beside loops that read
// between pixels. All numbers are small fractions, exact in every order.
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using Shape = std::vector<int64_t>;

// A 2x2 kernel with stride 2 down and dilation 2 across, on images of 5x6
// within one row above and one column on each side: 3x6.
constexpr int64_t kHeight = 5, kWidth = 6, kRows = 3, kColumns = 6;

void SetWindow(NodeBuilder n, int64_t groups) {
  n.Ints("strides", {2, 1})
      .Ints("dilations", {1, 2})
      .Ints("pads", {1, 1, 0, 1});
  n.Int("group", groups);
}

Given Zeros(const Shape& shape) {
  Given zeros = Count(shape);
  zeros.values.assign(zeros.values.size(), 0);
  return zeros;
}

TEST(DeformConvTest, WithoutOffsetsItIsAConvolution) {
  Random random(1);
  for (const int64_t groups : {1, 2}) {
    const Given x = SmallIntegers({2, 4, kHeight, kWidth}, random);
    const Given w = SmallIntegers({6, 4 / groups, 2, 2}, random);
    const Given bias = SmallIntegers({6}, random);
    const Attributes window = [&](NodeBuilder n) { SetWindow(n, groups); };
    const Outcome conv = RunNode(19, "Conv", {x, w, bias}, {}, window);
    ASSERT_EQ(conv.shape, (Shape{2, 6, kRows, kColumns}));
    ExpectNear(
        RunNode(19, "DeformConv", {x, w, Zeros({2, 8, kRows, kColumns}), bias},
                {}, window),
        conv.shape, conv.values);
  }
}

// The image at a place between its pixels; zero outside.
float Between(const Given& x, int64_t plane, float row, float column) {
  float sum = 0;
  for (const float r : {std::floor(row), std::floor(row) + 1}) {
    for (const float c : {std::floor(column), std::floor(column) + 1}) {
      if (r < 0 || r >= kHeight || c < 0 || c >= kWidth) continue;
      const auto at =
          (static_cast<size_t>(plane) * kHeight + static_cast<size_t>(r)) *
              kWidth +
          static_cast<size_t>(c);
      sum +=
          (1 - std::abs(row - r)) * (1 - std::abs(column - c)) * x.values[at];
    }
  }
  return sum;
}

// Of 2x4 channels, two groups of offsets, and 3 results.
Values Deformed(const Given& x, const Given& w, const Given& offset,
                const Given& mask) {
  constexpr int64_t kPlaces = kRows * kColumns;
  Values y;
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t oc = 0; oc < 3; ++oc) {
      for (int64_t o = 0; o < kPlaces; ++o) {
        float sum = 0;
        for (int64_t ic = 0; ic < 4; ++ic) {
          for (int64_t tap = 0; tap < 4; ++tap) {
            const int64_t moved = (n * 2 + ic / 2) * 4 + tap;
            const float* by = &offset.values[moved * 2 * kPlaces];
            const auto row = static_cast<float>(o / kColumns * 2 + tap / 2 - 1);
            const auto column =
                static_cast<float>(o % kColumns + tap % 2 * 2 - 1);
            sum +=
                w.values[(oc * 4 + ic) * 4 + tap] *
                mask.values[moved * kPlaces + o] *
                Between(x, n * 4 + ic, row + by[o], column + by[kPlaces + o]);
          }
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

TEST(DeformConvTest, TapsReadBetweenPixels) {
  Random random(2);
  const Given x = SmallIntegers({2, 4, kHeight, kWidth}, random);
  const Given w = SmallIntegers({3, 4, 2, 2}, random);
  Given offset = SmallIntegers({2, 16, kRows, kColumns}, random);
  Given mask = SmallIntegers({2, 8, kRows, kColumns}, random);
  for (float& value : offset.values) value /= 4;
  for (float& value : mask.values) value /= 8;
  ModelBuilder b(19);
  b.Input("x", x.shape).Input("w", w.shape).Input("offset", offset.shape);
  b.Input("mask", mask.shape).Output("y");
  NodeBuilder node =
      b.Node("DeformConv", {"x", "w", "offset", "", "mask"}, {"y"});
  SetWindow(node, 1);
  node.Int("offset_group", 2);
  ExpectNear(RunModel(b, {x, w, offset, mask}), {2, 3, kRows, kColumns},
             Deformed(x, w, offset, mask));
}

TEST(DeformConvTest, OffsetsOfAnotherShapeAreRefused) {
  ModelBuilder b(19);
  b.Input("x", {1, 4, 5, 5}).Input("w", {4, 4, 3, 3});
  b.Input("offset", {1, 9, 3, 3}).Output("y");
  b.Node("DeformConv", {"x", "w", "offset"}, {"y"});
  EXPECT_THAT(ImportModelProto(b.model()).status().message(),
              HasSubstr("offset of shape [1, 9, 3, 3] where [1, 18, 3, 3]"));
}

}  // namespace
}  // namespace tilewright

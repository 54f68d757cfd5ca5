// Col2Im beside a loop that adds each block to the image where it was taken.
#include <cstdint>
#include <string>
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

struct Fold {
  Shape image, block, strides, dilations, pads;

  Shape Blocks() const {
    Shape blocks;
    const size_t dims = image.size();
    for (size_t d = 0; d < dims; ++d) {
      const int64_t room = image[d] + pads[d] + pads[dims + d] -
                           (block[d] - 1) * dilations[d] - 1;
      blocks.push_back(room < 0 ? 0 : room / strides[d] + 1);
    }
    return blocks;
  }
};

Values Folded(const Given& x, const Fold& fold) {
  const Shape blocks = fold.Blocks();
  const int64_t channels = x.shape[1] / Total(fold.block);
  Values y(static_cast<size_t>(x.shape[0] * channels * Total(fold.image)), 0);
  size_t next = 0;
  for (int64_t plane = 0; plane < x.shape[0] * channels; ++plane) {
    Shape in_block(fold.block.size(), 0);
    do {
      Shape block(fold.block.size(), 0);
      do {
        int64_t to = plane;
        bool inside = true;
        for (size_t d = 0; d < block.size(); ++d) {
          const int64_t at = block[d] * fold.strides[d] +
                             in_block[d] * fold.dilations[d] - fold.pads[d];
          inside &= at >= 0 && at < fold.image[d];
          to = to * fold.image[d] + at;
        }
        if (inside) y[static_cast<size_t>(to)] += x.values[next];
        ++next;
      } while (Next(block, blocks));
    } while (Next(in_block, fold.block));
  }
  return y;
}

TEST(Col2ImTest, RandomWindows) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const auto dims = static_cast<size_t>(random.UniformInt(1, 3));
    Fold fold;
    for (size_t d = 0; d < dims; ++d) {
      fold.image.push_back(random.UniformInt(1, dims == 3 ? 4 : 7));
      fold.block.push_back(random.UniformInt(1, 4));
      fold.strides.push_back(random.UniformInt(1, 3));
      fold.dilations.push_back(random.UniformInt(1, 2));
    }
    for (size_t d = 0; d < 2 * dims; ++d)
      fold.pads.push_back(random.UniformInt(0, 2));
    const int64_t count = Total(fold.Blocks());
    if (count == 0) continue;
    const Given x = SmallIntegers({2, 3 * Total(fold.block), count}, random);
    Shape shape = {2, 3};
    shape.insert(shape.end(), fold.image.begin(), fold.image.end());
    ExpectNear(RunNode(18, "Col2Im", {x}, {fold.image, fold.block},
                       [&](NodeBuilder n) {
                         n.Ints("strides", fold.strides);
                         n.Ints("dilations", fold.dilations);
                         n.Ints("pads", fold.pads);
                       }),
               shape, Folded(x, fold));
  }
}

TEST(Col2ImTest, BlocksThatDoNotFitAreRefused) {
  const auto import = [](const Shape& x, const Shape& image,
                         const Shape& block) {
    ModelBuilder b(18);
    const auto rank = [](const Shape& s) {
      return Shape{static_cast<int64_t>(s.size())};
    };
    b.Input("x", x).Output("y");
    b.Ints("image", rank(image), image).Ints("block", rank(block), block);
    b.Node("Col2Im", {"x", "image", "block"}, {"y"});
    return ImportModelProto(b.model()).status();
  };
  EXPECT_THAT(import({1, 4, 4}, {4, 1}, {2, 1}).message(),
              HasSubstr("does not hold [3, 1] blocks"));
  EXPECT_THAT(import({1, 3, 4}, {2, 8}, {1, 2}).message(),
              HasSubstr("does not hold"));
  EXPECT_THAT(import({1, 4, 4}, {2, 2}, {3, 1}).message(),
              HasSubstr("do not fit into an image"));
  EXPECT_THAT(import({1, 4, 4}, {4}, {2, 1}).message(),
              HasSubstr("do not fit each other"));
  EXPECT_THAT(import({1, 4, 4}, {4, 0}, {2, 1}).message(),
              HasSubstr("do not fit into an image"));
}

}  // namespace
}  // namespace tilewright

// AffineGrid beside maps of positions worked out here.
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using Shape = std::vector<int64_t>;

ModelBuilder Model(const Shape& theta, const Shape& size, int64_t align) {
  ModelBuilder b(20);
  b.Input("theta", theta);
  b.Ints("size", {static_cast<int64_t>(size.size())}, size);
  b.Node("AffineGrid", {"theta", "size"}, {"y"}).Int("align_corners", align);
  b.Output("y");
  return b;
}

double Position(int64_t i, int64_t side, bool align) {
  const auto n = static_cast<double>(side), at = static_cast<double>(i);
  return align ? 2 * at / (n - 1) - 1 : (2 * at + 1) / n - 1;
}

TEST(AffineGridTest, PositionsAreMapped) {
  Random random(9);
  for (const Shape& size : {Shape{2, 3, 4, 5}, Shape{2, 1, 2, 3, 4}}) {
    for (const int64_t align : {0, 1}) {
      const int64_t dims = static_cast<int64_t>(size.size()) - 2;
      Given theta = {{size[0], dims, dims + 1}, {}};
      for (int64_t e = 0; e < size[0] * dims * (dims + 1); ++e)
        theta.values.push_back(static_cast<float>(random.Uniform(-2, 2)));
      Shape shape = {size[0]};
      shape.insert(shape.end(), size.begin() + 2, size.end());
      int64_t points = 1;
      for (const int64_t extent : shape) points *= extent;
      Values expected;
      for (int64_t p = 0; p < points; ++p) {
        // x, y, and z if there is one: the last dimension first.
        std::vector<double> position;
        int64_t rest = p;
        for (size_t d = shape.size(); d-- > 1;) {
          position.push_back(Position(rest % shape[d], shape[d], align != 0));
          rest /= shape[d];
        }
        position.push_back(1);
        for (int64_t row = 0; row < dims; ++row) {
          double sum = 0;
          for (int64_t k = 0; k <= dims; ++k) {
            sum += theta.values[static_cast<size_t>(
                       (rest * dims + row) * (dims + 1) + k)] *
                   position[static_cast<size_t>(k)];
          }
          expected.push_back(static_cast<float>(sum));
        }
      }
      shape.push_back(dims);
      ModelBuilder b = Model(theta.shape, size, align);
      ExpectNear(RunModel(b, {theta}), shape, expected);
    }
  }
}

TEST(AffineGridTest, CornersAreNotAlignedUnlessAsked) {
  ModelBuilder b(20);
  b.Input("theta", {1, 2, 3}).Ints("size", {4}, {1, 1, 1, 2});
  b.Node("AffineGrid", {"theta", "size"}, {"y"});
  b.Output("y");
  ExpectNear(RunModel(b, {{{1, 2, 3}, {1, 0, 0, 0, 1, 0}}}), {1, 1, 2, 2},
             {-0.5, 0, 0.5, 0});
}

TEST(AffineGridTest, SizesMustFitTheMaps) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto status = [](const Shape& theta, const Shape& size, int64_t align) {
    ModelBuilder b = Model(theta, size, align);
    return ImportModelProto(b.model()).status();
  };
  EXPECT_THAT(status({2, 2, 3}, {2, 3, 4}, 0),
              StatusIs(kInvalid, HasSubstr("size has 3 entries")));
  EXPECT_THAT(status({2, 3, 4}, {2, 3, 4, 5}, 0),
              StatusIs(kInvalid, HasSubstr("does not fit size [2, 3, 4, 5]")));
  EXPECT_THAT(status({2, 2, 3}, {2, 3, 0, 5}, 0),
              StatusIs(kInvalid, HasSubstr("out of range")));
  EXPECT_THAT(status({2, 2, 3}, {2, 3, 1, 5}, 1),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("a side of 1 with corners aligned")));
}

}  // namespace
}  // namespace tilewright

// MeanVarianceNormalization beside means worked out here.
#include <cmath>
#include <cstdint>
#include <utility>
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

// Elements whose indices agree in all dimensions but `axes` are brought to mean
// 0 and deviation 1 together.
Values Normalized(const Given& x, const std::vector<int64_t>& axes) {
  const int rank = static_cast<int>(x.shape.size());
  std::vector<bool> reduced(x.shape.size(), axes.empty());
  for (const int64_t axis : axes)
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  // The group of each element.
  std::vector<size_t> group;
  size_t groups = 1;
  for (int d = 0; d < rank; ++d) {
    if (!reduced[static_cast<size_t>(d)])
      groups *= static_cast<size_t>(x.shape[static_cast<size_t>(d)]);
  }
  for (size_t e = 0; e < x.values.size(); ++e) {
    size_t rest = e, at = 0, stride = 1;
    for (size_t d = x.shape.size(); d-- > 0;) {
      const auto extent = static_cast<size_t>(x.shape[d]);
      if (!reduced[d]) {
        at += rest % extent * stride;
        stride *= extent;
      }
      rest /= extent;
    }
    group.push_back(at);
  }
  std::vector<double> sum(groups, 0), squares(groups, 0);
  const double count =
      static_cast<double>(x.values.size()) / static_cast<double>(groups);
  for (size_t e = 0; e < x.values.size(); ++e) sum[group[e]] += x.values[e];
  for (size_t e = 0; e < x.values.size(); ++e)
    squares[group[e]] += std::pow(x.values[e] - sum[group[e]] / count, 2);
  Values result;
  for (size_t e = 0; e < x.values.size(); ++e) {
    result.push_back(
        static_cast<float>((x.values[e] - sum[group[e]] / count) /
                           (std::sqrt(squares[group[e]] / count) + 1e-9)));
  }
  return result;
}

Given Draw(Random& random, std::vector<int64_t> shape) {
  Given given = {std::move(shape), {}};
  int64_t count = 1;
  for (const int64_t extent : given.shape) count *= extent;
  for (int64_t e = 0; e < count; ++e)
    given.values.push_back(static_cast<float>(random.Uniform(-1, 3)));
  return given;
}

TEST(MeanVarianceTest, AxesAreTheBatchAndTheImageUnlessGiven) {
  Random random(8);
  const Given x = Draw(random, {2, 3, 4, 2});
  ExpectNear(RunNode(9, "MeanVarianceNormalization", {x}), x.shape,
             Normalized(x, {0, 2, 3}));
  const std::vector<std::vector<int64_t>> choices = {
      {1}, {0, 1}, {-1}, {2, -3}, {0, 1, 2, 3}, {}};
  for (const std::vector<int64_t>& axes : choices) {
    ExpectNear(RunNode(13, "MeanVarianceNormalization", {x}, {},
                       [&](NodeBuilder n) { n.Ints("axes", axes); }),
               x.shape, Normalized(x, axes));
  }
}

// The epsilon is added to the deviation, not to the variance.
TEST(MeanVarianceTest, TinyDeviationsAreHalved) {
  const auto axis = [](NodeBuilder n) { n.Ints("axes", {0}); };
  ExpectNear(RunNode(13, "MeanVarianceNormalization", {Vector({1e-9F, -1e-9F})},
                     {}, axis),
             {2}, {0.5, -0.5});
  ExpectNear(
      RunNode(13, "MeanVarianceNormalization", {Vector({3, 3})}, {}, axis), {2},
      {0, 0});
}

TEST(MeanVarianceTest, AxesMustBeThoseOfTheTensor) {
  ModelBuilder b(13);
  b.Input("x", {2, 3, 4});
  b.Node("MeanVarianceNormalization", {"x"}, {"y"});
  b.Output("y");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("axis 3 is outside a tensor of rank 3")));
  ModelBuilder twice(13);
  twice.Input("x", {2, 3, 4});
  twice.Node("MeanVarianceNormalization", {"x"}, {"y"}).Ints("axes", {1, -2});
  twice.Output("y");
  EXPECT_THAT(ImportModelProto(twice.model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the same axis is given twice")));
}

}  // namespace
}  // namespace tilewright

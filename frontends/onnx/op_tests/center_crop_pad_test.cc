// CenterCropPad beside the Pad that it is.
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

Outcome CenterCropPad(const Given& x, const std::vector<int64_t>& sizes,
                      const Attributes& attributes = None) {
  return RunNode(18, "CenterCropPad", {x}, {sizes}, attributes);
}

TEST(CenterCropPadTest, TheSmallerHalfLiesBefore) {
  const Given x = Vector({1, 2, 3, 4, 5});
  ExpectNear(CenterCropPad(x, {3}), {3}, {2, 3, 4});
  ExpectNear(CenterCropPad(x, {2}), {2}, {2, 3});
  ExpectNear(CenterCropPad(x, {5}), {5}, {1, 2, 3, 4, 5});
  ExpectNear(CenterCropPad(x, {6}), {6}, {1, 2, 3, 4, 5, 0});
  ExpectNear(CenterCropPad(x, {8}), {8}, {0, 1, 2, 3, 4, 5, 0, 0});
}

TEST(CenterCropPadTest, DimensionsAreCroppedAndFilledUpTogether) {
  ExpectNear(CenterCropPad(Count({3, 2}), {1, 4}), {1, 4}, {0, 3, 4, 0});
}

TEST(CenterCropPadTest, AxesSayWhichDimensions) {
  const Given x = Count({1, 3, 2});
  ExpectNear(CenterCropPad(x, {3, 1},
                           [](NodeBuilder n) {
                             n.Ints("axes", {-1, 1});
                           }),
             {1, 1, 3}, {3, 4, 0});
  ExpectNear(CenterCropPad(x, {1}, [](NodeBuilder n) { n.Ints("axes", {2}); }),
             {1, 3, 1}, {1, 3, 5});
}

TEST(CenterCropPadTest, SizesMustBeOnePerAxis) {
  ModelBuilder b(18);
  b.Input("x", {2, 3}).Ints("sizes", {1}, {4});
  b.Node("CenterCropPad", {"x", "sizes"}, {"y"});
  b.Output("y");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("there are 1 sizes for 2 dimensions")));
  ModelBuilder negative(18);
  negative.Input("x", {2}).Ints("sizes", {1}, {-4});
  negative.Node("CenterCropPad", {"x", "sizes"}, {"y"});
  negative.Output("y");
  EXPECT_THAT(ImportModelProto(negative.model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sizes [-4] are out of range")));
}

}  // namespace
}  // namespace tilewright

// GridSample on four pixels and a few positions, worked out by hand.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

Attributes Set(const char* mode, const char* outside, int64_t align = 0) {
  return [=](NodeBuilder n) {
    n.String("mode", mode).String("padding_mode", outside);
    n.Int("align_corners", align);
  };
}

// Of the row 10, 20, 30, 40.
void ExpectRow(const Attributes& attributes, const Values& positions,
               const Values& expected) {
  const auto count = static_cast<int64_t>(positions.size());
  ExpectNear(
      RunNode(20, "GridSample",
              {{{1, 1, 4}, {10, 20, 30, 40}}, {{1, count, 1}, positions}}, {},
              attributes),
      {1, 1, count}, expected);
}

TEST(GridSampleTest, PositionsRunOverPixelsOrTheirCentres) {
  ExpectRow(Set("linear", "zeros"), {-1, -0.75F, 0, 1}, {5, 10, 25, 20});
  ExpectRow(Set("linear", "zeros", 1), {-1, -0.75F, 0, 1},
            {10, 13.75F, 25, 40});
}

TEST(GridSampleTest, NearestHalvesGoToTheEvenPixel) {
  ExpectRow(Set("nearest", "zeros"), {-1, 0, 0.4F, 1, 2}, {10, 30, 30, 0, 0});
}

TEST(GridSampleTest, OutsideIsZeroTheBorderOrAReflection) {
  ExpectRow(Set("linear", "zeros"), {-2, 3.5F}, {0, 0});
  ExpectRow(Set("linear", "border"), {-2, -1, 3.5F}, {10, 10, 40});
  ExpectRow(Set("linear", "reflection"), {-2, -1, 3.5F}, {25, 10, 15});
  ExpectRow(Set("linear", "reflection", 1), {-2, 3.5F}, {25, 17.5F});
  ExpectRow(Set("nearest", "reflection"), {-2.2F, 3.5F}, {30, 10});
}

TEST(GridSampleTest, CubicWeightsFourPixels) {
  ExpectRow(Set("cubic", "zeros"), {-0.75F, -0.5F}, {10, 15});
  ExpectRow(Set("cubic", "border"), {-0.5F}, {14.0625F});
  ExpectRow(Set("cubic", "reflection"), {-0.5F}, {14.0625F});
}

TEST(GridSampleTest, TheLastDimensionComesFirst) {
  const Given x = {{1, 2, 2, 3}, Count({12}).values};
  const Given grid = {{1, 1, 2, 2}, {1, -1, -1, 1}};
  ExpectNear(
      RunNode(16, "GridSample", {x, grid}, {}, Set("bilinear", "zeros", 1)),
      {1, 2, 1, 2}, {3, 4, 9, 10});
}

void ExpectRefused(int64_t opset, const Shape& x, const Shape& grid,
                   const Attributes& attributes, const std::string& words) {
  ModelBuilder b(opset);
  b.Input("x", x).Input("grid", grid).Output("y");
  attributes(b.Node("GridSample", {"x", "grid"}, {"y"}));
  const absl::Status status = ImportModelProto(b.model()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(std::string(status.message()).find(words), std::string::npos)
      << status;
}

TEST(GridSampleTest, WhatDoesNotFitIsRefused) {
  ExpectRefused(16, {1, 1, 4}, {1, 3, 1}, None, "where 4 dimensions");
  ExpectRefused(20, {1, 1}, {1, 1}, None, "where 3 to 5 dimensions");
  ExpectRefused(20, {1, 1, 4, 4}, {1, 3, 3, 3}, None, "the grid of shape");
  ExpectRefused(20, {2, 1, 4, 4}, {1, 3, 3, 2}, None, "the grid of shape");
  ExpectRefused(20, {1, 1, 4, 4}, {1, 3, 3, 2}, Set("bilinear", "zeros"),
                "linear, nearest, cubic");
}

}  // namespace
}  // namespace tilewright

// RoiAlign beside loops over the samples of each bin, in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
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
using Shape = std::vector<int64_t>;

struct Rois {
  std::string mode = "avg";
  std::string coordinates = "half_pixel";  // "": before opset 16
  int64_t height = 1, width = 1, ratio = 0;
  float scale = 1;
};

void SetAttributes(NodeBuilder n, const Rois& spec) {
  n.String("mode", spec.mode);
  if (!spec.coordinates.empty())
    n.String("coordinate_transformation_mode", spec.coordinates);
  n.Int("output_height", spec.height).Int("output_width", spec.width);
  n.Int("sampling_ratio", spec.ratio).Float("spatial_scale", spec.scale);
}

// The pixels around a position of one dimension, and their weights; zeros far
// outside.
std::vector<std::pair<int64_t, double>> Around(double position,
                                               int64_t extent) {
  if (position < -1 || position > static_cast<double>(extent))
    return {{0, 0}, {0, 0}};
  position = std::max(position, 0.0);
  const auto low = static_cast<int64_t>(position);
  if (low >= extent - 1) return {{extent - 1, 1}, {extent - 1, 0}};
  const double part = position - static_cast<double>(low);
  return {{low, 1 - part}, {low + 1, part}};
}

// One bin of one region in one channel: `pixels` is [h, w].
double Bin(const Rois& spec, const float* pixels, int64_t h, int64_t w,
           const float* roi, int64_t row, int64_t column) {
  const double shift = spec.coordinates == "half_pixel" ? 0.5 : 0;
  const double left = roi[0] * spec.scale - shift;
  const double top = roi[1] * spec.scale - shift;
  double wide = roi[2] * spec.scale - shift - left;
  double high = roi[3] * spec.scale - shift - top;
  if (shift == 0) {
    wide = std::max(wide, 1.0);
    high = std::max(high, 1.0);
  }
  high /= static_cast<double>(spec.height);
  wide /= static_cast<double>(spec.width);
  const auto samples = [&](double size) {
    return spec.ratio > 0 ? spec.ratio : static_cast<int64_t>(std::ceil(size));
  };
  const int64_t down = samples(high), across = samples(wide);
  double sum = 0, most = -INFINITY;
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t j = 0; j < across; ++j) {
      const double y = top + high * (static_cast<double>(row) +
                                     (static_cast<double>(i) + 0.5) /
                                         static_cast<double>(down));
      const double x = left + wide * (static_cast<double>(column) +
                                      (static_cast<double>(j) + 0.5) /
                                          static_cast<double>(across));
      for (const auto& [v, weight_v] : Around(y, h)) {
        for (const auto& [u, weight_u] : Around(x, w)) {
          const double term = weight_v * weight_u * pixels[v * w + u];
          sum += term;
          most = std::max(most, term);
        }
      }
    }
  }
  if (down < 1 || across < 1) return 0;
  return spec.mode == "max" ? most : sum / static_cast<double>(down * across);
}

void ExpectAligned(int64_t opset, const Rois& spec, const Given& x,
                   const Given& rois, const Shape& images,
                   bool constant = false) {
  SCOPED_TRACE(testing::Message()
               << spec.mode << " " << spec.coordinates << " " << spec.ratio);
  ModelBuilder b(opset);
  b.Input("x", x.shape);
  std::vector<Given> given = {x};
  if (constant) {
    b.Floats("rois", rois.shape, rois.values);
  } else {
    b.Input("rois", rois.shape);
    given.push_back(rois);
  }
  b.Ints("images", {rois.shape[0]}, images);
  SetAttributes(b.Node("RoiAlign", {"x", "rois", "images"}, {"y"}), spec);
  b.Output("y");
  const int64_t channels = x.shape[1], h = x.shape[2], w = x.shape[3];
  Values expected;
  for (int64_t r = 0; r < rois.shape[0]; ++r) {
    for (int64_t c = 0; c < channels; ++c) {
      const float* pixels = &x.values[static_cast<size_t>(
          (images[static_cast<size_t>(r)] * channels + c) * h * w)];
      for (int64_t row = 0; row < spec.height; ++row) {
        for (int64_t column = 0; column < spec.width; ++column) {
          expected.push_back(static_cast<float>(
              Bin(spec, pixels, h, w, &rois.values[static_cast<size_t>(4 * r)],
                  row, column)));
        }
      }
    }
  }
  ExpectNear(RunModel(b, given),
             {rois.shape[0], channels, spec.height, spec.width}, expected);
}

class RoiAlignTest : public ::testing::Test {
 protected:
  RoiAlignTest() : x_(SmallIntegers({2, 3, 7, 5}, random_)) {}

  Random random_{11};
  Given x_;
  // Inside, over the borders, far outside, and without an area.
  Given rois_ = {
      {4, 4},
      {1.5F, 2, 8.25F, 11, -3, -2.5F, 12, 20, 30, 31, 42, 40, 4, 6, 4, 6}};
  Shape images_ = {1, 0, 1, 0};
};

TEST_F(RoiAlignTest, BinsAreMeansOrMaximaOfSamples) {
  for (const char* mode : {"avg", "max"}) {
    for (const char* coordinates : {"half_pixel", "output_half_pixel"}) {
      for (const int64_t ratio : {1, 2, 3}) {
        ExpectAligned(16, {mode, coordinates, 3, 2, ratio, 0.5F}, x_, rois_,
                      images_);
      }
    }
  }
}

TEST_F(RoiAlignTest, ConstantRegionsMayDecideHowManySamples) {
  for (const char* mode : {"avg", "max"}) {
    for (const char* coordinates : {"half_pixel", "output_half_pixel"})
      ExpectAligned(22, {mode, coordinates, 2, 3, 0, 0.75F}, x_, rois_, images_,
                    true);
  }
}

TEST_F(RoiAlignTest, BeforeOpset16PixelsAreNotShifted) {
  ExpectAligned(10, {"avg", "", 2, 2, 2, 0.5F}, x_, rois_, images_);
}

TEST_F(RoiAlignTest, WhatDoesNotFitIsRefused) {
  const auto status = [](const Shape& x, const Shape& rois, const Shape& images,
                         const Rois& spec) {
    ModelBuilder b(16);
    b.Input("x", x).Input("rois", rois);
    b.Input("images", images, onnx::TensorProto::INT64);
    SetAttributes(b.Node("RoiAlign", {"x", "rois", "images"}, {"y"}), spec);
    b.Output("y");
    return ImportModelProto(b.model()).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  Rois spec;
  EXPECT_THAT(status({1, 2, 4, 4}, {3, 4}, {3}, spec),
              StatusIs(kUnimplemented,
                       HasSubstr("sampling_ratio 0 of regions that are not")));
  spec.ratio = 2;
  EXPECT_THAT(status({1, 2, 4, 4}, {3, 5}, {3}, spec),
              StatusIs(kInvalid, HasSubstr("regions of [3, 5]")));
  EXPECT_THAT(status({1, 2, 4, 4}, {3, 4}, {2}, spec),
              StatusIs(kInvalid, HasSubstr("numbers of [2]")));
  EXPECT_THAT(status({1, 2, 4}, {3, 4}, {3}, spec),
              StatusIs(kInvalid, HasSubstr("images of shape [1, 2, 4]")));
  spec.ratio = 5000;
  EXPECT_THAT(status({1, 2, 4, 4}, {3, 4}, {3}, spec),
              StatusIs(kUnimplemented, HasSubstr("sampling_ratio 5000")));
}

}  // namespace
}  // namespace tilewright

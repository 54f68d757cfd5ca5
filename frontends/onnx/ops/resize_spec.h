// The parameters of a Resize or Upsample node, in any opset.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_SPEC_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// The largest output dimension, and the largest table.
constexpr double kLargestResize = 1 << 22;

enum class ResizeMode { kNearest, kLinear, kCubic };

struct ResizeSpec {
  ResizeMode mode = ResizeMode::kNearest;
  std::string coordinates;  // coordinate_transformation_mode
  std::string rounding;     // nearest_mode
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_a = -0.75;
  std::vector<double> scale;  // per dimension
  Shape shape;                // of the output
  // Which part of each dimension is resized, in shares of its length less 1:
  // all but for tf_crop_and_resize, where it may reach out of the data.
  struct Crop {
    double first = 0, last = 1;
    bool is_whole() const { return first == 0 && last == 1; }
  };
  std::vector<Crop> crop;
  double outside = 0;  // what is out there: extrapolation_value

  bool Crops() const { return coordinates == "tf_crop_and_resize"; }
  // Whether dimension `d`, of `extent` positions, stays as it is.
  bool Keeps(int d, int64_t extent) const {
    return scale[d] == 1 && shape[d] == extent && crop[d].is_whole();
  }
};

// InvalidArgument or Unimplemented says which attribute or input is wrong.
absl::StatusOr<ResizeSpec> ReadResize(const OpContext& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_SPEC_H_

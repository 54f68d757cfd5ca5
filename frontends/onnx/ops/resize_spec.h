// The parameters of a Resize or Upsample node, in any opset.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_SPEC_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_SPEC_H_

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
};

// InvalidArgument or Unimplemented says which attribute or input is wrong.
absl::StatusOr<ResizeSpec> ReadResize(const OpContext& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_SPEC_H_

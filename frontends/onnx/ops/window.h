// Sliding windows: what convolution and pooling have in common.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_WINDOW_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// One spatial dimension. Output position o reads input positions
// o * stride - pad_before + k * dilation for k in [0, kernel).
struct WindowDim {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;

  // Whether some position lies before the input's begin or past its end.
  bool reaches_before() const { return pad_before > 0; }
  bool reaches_past() const {
    return (output - 1) * stride - pad_before + (kernel - 1) * dilation >=
           input;
  }
};

// The attributes of these names for `count` spatial dimensions.
struct WindowAttributes {
  std::vector<int64_t> strides, dilations;
  std::vector<int64_t> pads;  // before each dimension, then after each
  std::string auto_pad;

  bool same() const {
    return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  }
};
absl::StatusOr<WindowAttributes> ReadWindowAttributes(const OpContext& op,
                                                      size_t count);
// `count` values of at least `least`; `otherwise` where there are none.
absl::StatusOr<std::vector<int64_t>> ReadInts(const OpContext& op,
                                              const char* name, size_t count,
                                              int64_t otherwise, int64_t least);

// From those, kernel_shape and ceil_mode, for input `input` [n, c, spatial...].
// `kernel` is what the weights say; empty: take kernel_shape.
absl::StatusOr<std::vector<WindowDim>> ReadWindow(const OpContext& op,
                                                  const Shape& input,
                                                  Shape kernel);

// "h", "w" of two spatial dimensions; "w" of one; "d", "h", "w" of three.
std::string SpatialName(int dim, int count);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_WINDOW_H_

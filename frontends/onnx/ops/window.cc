#include "frontends/onnx/ops/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

// Far above what any tensor allows, and products of three still fit.
constexpr int64_t kLargest = int64_t{1} << 20;
constexpr int64_t kLongestInput = int64_t{1} << 22;

// SAME: as many positions as the input has strides.
void PadSame(WindowDim& dim, bool upper) {
  dim.output = (dim.input + dim.stride - 1) / dim.stride;
  const int64_t span = (dim.kernel - 1) * dim.dilation + 1;
  const int64_t total =
      std::max<int64_t>(0, (dim.output - 1) * dim.stride + span - dim.input);
  dim.pad_before = upper ? total / 2 : total - total / 2;
  dim.pad_after = total - dim.pad_before;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ReadInts(const OpContext& op,
                                              const char* name, size_t count,
                                              int64_t otherwise,
                                              int64_t least) {
  std::vector<int64_t> values =
      op.Ints(name, std::vector<int64_t>(count, otherwise));
  TW_RETURN_IF_ERROR(op.status());
  // Some exporters write an empty list for the default.
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) {
    return op.Error("attribute '", name, "' has ", values.size(),
                    " entries where ", count, " are needed");
  }
  for (const int64_t value : values) {
    if (value < least || value > kLargest) {
      return op.Error("attribute '", name, "' is ", ShapeText(values),
                      "; entries must be between ", least, " and ", kLargest);
    }
  }
  return values;
}

absl::StatusOr<WindowAttributes> ReadWindowAttributes(const OpContext& op,
                                                      size_t count) {
  WindowAttributes read;
  TW_ASSIGN_OR_RETURN(read.strides, ReadInts(op, "strides", count, 1, 1));
  TW_ASSIGN_OR_RETURN(read.dilations, ReadInts(op, "dilations", count, 1, 1));
  TW_ASSIGN_OR_RETURN(read.pads, ReadInts(op, "pads", 2 * count, 0, 0));
  read.auto_pad = op.String("auto_pad", "NOTSET");
  if (!read.same() && read.auto_pad != "NOTSET" && read.auto_pad != "VALID") {
    return op.Error("attribute 'auto_pad' is ", Quoted(read.auto_pad),
                    "; it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  return read;
}

absl::StatusOr<std::vector<WindowDim>> ReadWindow(const OpContext& op,
                                                  const Shape& input,
                                                  Shape kernel) {
  if (input.size() < 3) {
    return op.Error("shape ", ShapeText(input),
                    " must have a batch, a channel and at least one spatial "
                    "dimension");
  }
  const size_t count = input.size() - 2;
  const bool given = op.HasAttribute("kernel_shape");
  if (kernel.empty() && !given) {
    return op.Error("attribute 'kernel_shape' is missing");
  }
  if (given) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> named,
                        ReadInts(op, "kernel_shape", count, 1, 1));
    if (!kernel.empty() && named != kernel) {
      return op.Error("attribute 'kernel_shape' is ", ShapeText(named),
                      " but the weights have ", ShapeText(kernel));
    }
    kernel = named;
  }
  TW_ASSIGN_OR_RETURN(const WindowAttributes attributes,
                      ReadWindowAttributes(op, count));
  const bool ceil_mode = op.Int("ceil_mode", 0) != 0;
  std::vector<WindowDim> window(count);
  for (size_t d = 0; d < count; ++d) {
    WindowDim& dim = window[d];
    dim.input = input[2 + d];
    dim.kernel = kernel[d];
    dim.stride = attributes.strides[d];
    dim.dilation = attributes.dilations[d];
    if (dim.input > kLongestInput) {
      return op.Unsupported("a spatial dimension above ", kLongestInput);
    }
    if (dim.kernel > kLargest || dim.kernel < 1) {
      return op.Error("kernel ", ShapeText(kernel), " is out of range");
    }
    if (attributes.same()) {
      PadSame(dim, attributes.auto_pad == "SAME_UPPER");
      continue;
    }
    if (attributes.auto_pad == "NOTSET") {
      dim.pad_before = attributes.pads[d];
      dim.pad_after = attributes.pads[count + d];
    }
    const int64_t span = (dim.kernel - 1) * dim.dilation + 1;
    const int64_t room = dim.input + dim.pad_before + dim.pad_after - span;
    if (room < 0) {
      return op.Error("a window of ", span, " does not fit into dimension ",
                      2 + d, " of the padded input ", ShapeText(input),
                      "; fix kernel, dilations or pads");
    }
    dim.output = room / dim.stride + 1;
    // With ceil_mode a last window may begin inside, not past, the input and
    // the padding before it.
    if (ceil_mode && room % dim.stride != 0 &&
        dim.output * dim.stride < dim.input + dim.pad_before) {
      ++dim.output;
    }
  }
  return window;
}

std::string SpatialName(int dim, int count) {
  static constexpr const char* kNames[] = {"d", "h", "w"};
  return count <= 3 ? kNames[3 - count + dim] : absl::StrCat("s", dim);
}

}  // namespace tilewright

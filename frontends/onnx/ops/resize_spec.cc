#include "frontends/onnx/ops/resize_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {
namespace {

absl::StatusOr<std::vector<double>> ConstNumbers(const OpContext& op, int i) {
  if (IsInteger(op.dtype(i))) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, op.ConstInts(i));
    return std::vector<double>(ints.begin(), ints.end());
  }
  const auto& constant = op.input(i).constant;
  if (constant == nullptr) return op.NotConstant(i);
  std::vector<double> values;
  for (int64_t k = 0; k < constant->num_elements(); ++k) {
    values.push_back(constant->Get(k).f);
  }
  return values;
}

absl::Status ReadMode(const OpContext& op, ResizeSpec& spec) {
  const std::string mode = op.String("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic" &&
      mode != "bilinear") {
    return op.Error("attribute 'mode' is ", Quoted(mode),
                    "; it must be nearest, linear or cubic");
  }
  spec.mode = mode == "nearest" ? ResizeMode::kNearest
              : mode == "cubic" ? ResizeMode::kCubic
                                : ResizeMode::kLinear;
  const bool old = op.opset() < 11;
  spec.coordinates = op.String("coordinate_transformation_mode",
                               old ? "asymmetric" : "half_pixel");
  spec.rounding =
      op.String("nearest_mode", old ? "floor" : "round_prefer_floor");
  spec.antialias = op.Int("antialias", 0) != 0;
  spec.exclude_outside = op.Int("exclude_outside", 0) != 0;
  spec.cubic_a = op.Float("cubic_coeff_a", -0.75f);
  spec.outside = op.Float("extrapolation_value", 0);
  for (const char* known : {"half_pixel", "half_pixel_symmetric",
                            "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_half_pixel_for_nn", "tf_crop_and_resize"}) {
    if (spec.coordinates == known) return absl::OkStatus();
  }
  return op.Unsupported("coordinate_transformation_mode ",
                        Quoted(spec.coordinates));
}

// The first and last of the part of each axis, from input 1: all the first come
// before all the last.
absl::Status ReadCrop(const OpContext& op, const std::vector<int>& axes,
                      ResizeSpec& spec) {
  spec.crop.assign(op.rank(0), {});
  if (!spec.Crops()) return absl::OkStatus();
  if (!op.has_input(1))
    return op.Error(Quoted(spec.coordinates), " needs input 'roi'");
  TW_ASSIGN_OR_RETURN(const std::vector<double> roi, ConstNumbers(op, 1));
  const bool finite = std::all_of(roi.begin(), roi.end(), [](double value) {
    return std::abs(value) < kLargestResize;
  });
  if (roi.size() != 2 * axes.size() || !finite) {
    return op.Error("'roi' has ", roi.size(), " numbers for ", axes.size(),
                    " axes; there must be two each, not too large");
  }
  for (size_t k = 0; k < axes.size(); ++k)
    spec.crop[axes[k]] = {roi[k], roi[axes.size() + k]};
  return absl::OkStatus();
}

// sizes, of which the largest or smallest scale may count for all axes.
void KeepAspect(const std::string& policy, const Shape& from,
                const std::vector<int>& axes, std::vector<double>& sizes) {
  if (policy == "stretch") return;
  double scale = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    const double own = sizes[k] / static_cast<double>(from[axes[k]]);
    const bool better = policy == "not_larger" ? own < scale : own > scale;
    if (k == 0 || better) scale = own;
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    sizes[k] = std::floor(scale * static_cast<double>(from[axes[k]]) + 0.5);
  }
}

}  // namespace

absl::StatusOr<ResizeSpec> ReadResize(const OpContext& op) {
  ResizeSpec spec;
  TW_RETURN_IF_ERROR(ReadMode(op, spec));
  const Shape& from = op.shape(0);
  const int rank = op.rank(0);
  if (Product(from, 0, rank) == 0)
    return op.Unsupported("a tensor without elements, ", ShapeText(from));
  std::vector<int64_t> named = op.Ints("axes");
  if (named.empty()) {
    for (int d = 0; d < rank; ++d) named.push_back(d);
  }
  TW_RETURN_IF_ERROR(op.Axes(named, rank));
  std::vector<int> axes;
  for (const int64_t axis : named) {
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  TW_RETURN_IF_ERROR(ReadCrop(op, axes, spec));
  // Where scales and sizes are changed with the opset.
  const int scales_input = op.opset() < 11 ? 1 : 2;
  std::vector<double> scales, sizes;
  if (op.HasAttribute("scales")) {
    for (const float scale : op.Floats("scales")) scales.push_back(scale);
  } else if (op.has_input(scales_input) &&
             Product(op.shape(scales_input), 0, op.rank(scales_input)) > 0) {
    TW_ASSIGN_OR_RETURN(scales, ConstNumbers(op, scales_input));
  } else if (op.has_input(3)) {
    TW_ASSIGN_OR_RETURN(sizes, ConstNumbers(op, 3));
  }
  const std::vector<double>& given = scales.empty() ? sizes : scales;
  const bool positive = std::all_of(
      given.begin(), given.end(),
      [](double value) { return value > 0 && value < kLargestResize; });
  if (given.size() != axes.size() || !positive) {
    return op.Error("there are ", given.size(), " scales or sizes for ",
                    axes.size(),
                    " axes; there must be one positive number each");
  }
  KeepAspect(op.String("keep_aspect_ratio_policy", "stretch"), from, axes,
             sizes);
  spec.shape = from;
  spec.scale.assign(rank, 1);
  for (size_t k = 0; k < axes.size(); ++k) {
    const double extent = static_cast<double>(from[axes[k]]);
    const ResizeSpec::Crop& crop = spec.crop[axes[k]];
    const double out =
        scales.empty()
            ? sizes[k]
            : std::floor(extent * (crop.last - crop.first) * scales[k]);
    if (!(out >= 1 && out < kLargestResize)) {
      return op.Error("dimension ", axes[k], " of ", ShapeText(from),
                      " becomes ", out);
    }
    spec.shape[axes[k]] = static_cast<int64_t>(out);
    spec.scale[axes[k]] = scales.empty() ? out / extent : scales[k];
  }
  return spec;
}

}  // namespace tilewright

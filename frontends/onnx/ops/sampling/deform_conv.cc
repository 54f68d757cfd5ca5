// DeformConv: a convolution each of whose taps reads the image at a position
// that is data, between four pixels (of images of two dimensions). What taps
// read is interpolated first, as an image with channels of their own for each
// tap; then a convolution of one tap sums over those.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/convolution/convolution.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/sampling/neighbours.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Inputs.
constexpr int kX = 0, kWeights = 1, kOffset = 2, kBias = 3, kMask = 4;

struct DeformSpec {
  std::vector<WindowDim> window;
  int64_t groups = 1;         // of channels that results are summed over
  int64_t offset_groups = 1;  // of channels that share positions
  Shape kernel, output;       // spatial

  int spatial() const { return static_cast<int>(window.size()); }
  int64_t taps() const { return Product(kernel, 0, kernel.size()); }
};

absl::StatusOr<DeformSpec> ReadDeform(const OpContext& op) {
  const Shape& x = op.shape(kX);
  const Shape& w = op.shape(kWeights);
  DeformSpec spec;
  spec.groups = op.Int("group", 1);
  spec.offset_groups = op.Int("offset_group", 1);
  if (x.size() != w.size() || x.size() < 3 || spec.groups < 1 ||
      w[0] % spec.groups != 0 || x[1] != w[1] * spec.groups) {
    return op.Error("input ", ShapeText(x), " and weights ", ShapeText(w),
                    " do not fit in ", spec.groups, " group(s)");
  }
  if (spec.offset_groups < 1 || x[1] % spec.offset_groups != 0) {
    return op.Error("the ", x[1], " channels of input ", ShapeText(x),
                    " do not divide into ", spec.offset_groups,
                    " groups of offsets");
  }
  TW_ASSIGN_OR_RETURN(spec.window, ReadWindow(op, x, {w.begin() + 2, w.end()}));
  for (const WindowDim& dim : spec.window) {
    spec.kernel.push_back(dim.kernel);
    spec.output.push_back(dim.output);
  }
  return spec;
}

// InvalidArgument unless input `i` has `numbers` for each tap of each group and
// each place of the output.
absl::Status RequirePerTap(const OpContext& op, const DeformSpec& spec, int i,
                           int64_t numbers) {
  Shape wanted = {op.shape(kX)[0], spec.offset_groups * spec.taps() * numbers};
  wanted.insert(wanted.end(), spec.output.begin(), spec.output.end());
  if (op.shape(i) == wanted) return absl::OkStatus();
  return op.Error(i == kMask ? "mask" : "offset", " of shape ",
                  ShapeText(op.shape(i)), " where ", ShapeText(wanted),
                  " is needed");
}

absl::Status InferDeformConv(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, kX, TypeClass::kFloat));
  TW_ASSIGN_OR_RETURN(const DeformSpec spec, ReadDeform(op));
  TW_RETURN_IF_ERROR(RequirePerTap(op, spec, kOffset, spec.spatial()));
  if (op.has_input(kMask))
    TW_RETURN_IF_ERROR(RequirePerTap(op, spec, kMask, 1));
  const int64_t channels = op.shape(kWeights)[0];
  if (op.has_input(kBias) && op.shape(kBias) != Shape{channels}) {
    return op.Error("bias of shape ", ShapeText(op.shape(kBias)),
                    " does not fit ", channels, " output channels");
  }
  Shape shape = {op.shape(kX)[0], channels};
  shape.insert(shape.end(), spec.output.begin(), spec.output.end());
  op.SetOutput(0, op.dtype(kX), std::move(shape));
  return absl::OkStatus();
}

// `leading`, then the taps of the kernel, `inner`, and the places of the
// output.
Shape PerTap(const DeformSpec& spec, Shape leading, const Shape& inner = {}) {
  for (const Shape* part : {&spec.kernel, &inner, &spec.output})
    leading.insert(leading.end(), part->begin(), part->end());
  return leading;
}

// The neighbours of every position along dimension `d`; `offsets` are
// [n, offset group, taps..., dimension, output...].
Neighbours NeighboursAlong(ImportContext& in, const DeformSpec& spec,
                           const Interpolation& how, TensorId offsets, int d) {
  const WindowDim& dim = spec.window[d];
  const int64_t batch = in.op().shape(kX)[0];
  const TensorId positions = in.Elementwise(
      in.Name(0, absl::StrCat("position", d)), how.acc,
      PerTap(spec, {batch, spec.offset_groups}), "position", [&](Index index) {
        const Expr regular =
            index[2 + spec.spatial() + d] * Expr::Int(dim.stride) +
            index[2 + d] * Expr::Int(dim.dilation) - Expr::Int(dim.pad_before);
        std::vector<Expr> at(index.begin(), index.end());
        at.insert(at.begin() + 2 + spec.spatial(), Expr::Int(d));
        return Add(CastTo(how.acc, regular),
                   CastTo(how.acc, in.At(offsets, std::move(at))));
      });
  Neighbours neighbours(how, dim.input);
  neighbours.Compute(in, d, positions);
  return neighbours;
}

// What the taps read: [n, channel * taps, output...].
TensorId Sampled(ImportContext& in, const DeformSpec& spec) {
  const OpContext& op = in.op();
  const Shape& x_shape = op.shape(kX);
  Interpolation how;
  how.acc = Combiner::DefaultAccumulator(op.dtype(kX));
  const Shape leading = {x_shape[0], spec.offset_groups};
  const TensorId offsets =
      EmitReshaped(in, in.Name(0, "offsets"), in.input(kOffset),
                   PerTap(spec, leading, {spec.spatial()}));
  const TensorId masks =
      op.has_input(kMask) ? EmitReshaped(in, in.Name(0, "masks"),
                                         in.input(kMask), PerTap(spec, leading))
                          : -1;
  std::vector<Neighbours> dims;
  std::vector<NamedAxis> taps;
  for (int d = 0; d < spec.spatial(); ++d) {
    dims.push_back(NeighboursAlong(in, spec, how, offsets, d));
    taps.push_back({absl::StrCat("tap", d), how.taps});
  }
  const TensorId x = in.input(kX);
  const Expr group_size = Expr::Int(x_shape[1] / spec.offset_groups);
  const Terms term = [&](Index index, Index tap) {
    std::vector<Expr> position(index.begin(), index.end());
    position[1] = FloorDiv(index[1], group_size);
    std::vector<Expr> at = {index[0], index[1]};
    Expr weight;
    if (masks >= 0) weight = CastTo(how.acc, in.At(masks, position));
    for (size_t d = 0; d < dims.size(); ++d) {
      at.push_back(dims[d].Pixel(in, tap[d], position));
      const Expr own = dims[d].Weight(in, tap[d], position);
      weight = weight ? Mul(weight, own) : own;
    }
    return Mul(weight, CastTo(how.acc, in.At(x, std::move(at))));
  };
  const TensorId sampled =
      in.Reduction(in.Name(0, "sampled"), op.dtype(kX),
                   AxesOf(PerTap(spec, {x_shape[0], x_shape[1]})), taps,
                   Combiner::Kind::kSum, "gridsample", term);
  Shape image = {x_shape[0], x_shape[1] * spec.taps()};
  image.insert(image.end(), spec.output.begin(), spec.output.end());
  return EmitReshaped(in, in.Name(0, "columns"), sampled, image);
}

absl::Status ImportDeformConv(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const DeformSpec spec, ReadDeform(op));
  const Shape& w_shape = op.shape(kWeights);
  const int64_t channels_in = w_shape[1] * spec.taps();
  const int64_t channels_out = w_shape[0] / spec.groups;
  const DType acc = Combiner::DefaultAccumulator(op.dtype(kX));
  std::vector<WindowDim> one_tap(spec.window.size());
  for (int d = 0; d < spec.spatial(); ++d)
    one_tap[d].input = one_tap[d].output = spec.output[d];
  const TensorId x = Sampled(in, spec);
  const TensorId w = EmitReshaped(in, in.Name(0, "weights"), in.input(kWeights),
                                  {w_shape[0], channels_in});
  const TensorId bias = op.has_input(kBias) ? in.input(kBias) : -1;
  in.SetOutput(
      0, AddConvolution(in, "", one_tap, w_shape[0], channels_in, bias,
                        [&](Index out, Index over) {
                          std::vector<Expr> at(out.begin(), out.end());
                          at[1] = GroupedChannel(out[1], over[0], spec.groups,
                                                 channels_in, channels_out);
                          for (int d = 0; d < spec.spatial(); ++d)
                            at[2 + d] = at[2 + d] + over[1 + d];
                          return Mul(CastTo(acc, in.At(x, std::move(at))),
                                     CastTo(acc, in.At(w, {out[1], over[0]})));
                        }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"DeformConv", 19, 3, 5, InferDeformConv, ImportDeformConv},
};

}  // namespace

absl::Span<const OpDef> DeformConvOps() { return kOps; }

}  // namespace tilewright

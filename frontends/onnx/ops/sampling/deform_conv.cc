// DeformConv: a convolution each of whose taps reads the image at a position
// that is data, between four pixels (of images of two dimensions). What taps
// read is interpolated first, as an image that has the rows of all taps below
// each other; a convolution of so many rows, as far apart as the result is
// high, sums over it.
#include <algorithm>
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

// [leading..., rows of all taps, output without its rows...].
Shape RowsOfTaps(const DeformSpec& spec, Shape leading) {
  leading.push_back(spec.taps() * spec.output[0]);
  leading.insert(leading.end(), spec.output.begin() + 1, spec.output.end());
  return leading;
}

// The neighbours of every position [n, offset group, rows of taps, ...] along
// dimension `d`; `offsets` are [n, offset group, tap, dimension, output...].
Neighbours NeighboursAlong(ImportContext& in, const DeformSpec& spec,
                           const Interpolation& how, TensorId offsets, int d) {
  const WindowDim& dim = spec.window[d];
  const Expr height = Expr::Int(spec.output[0]);
  const Shape shape =
      RowsOfTaps(spec, {in.op().shape(kX)[0], spec.offset_groups});
  const TensorId positions = in.Elementwise(
      in.Name(0, absl::StrCat("position", d)), how.acc, shape, "position",
      [&](Index index) {
        const Expr tap = FloorDiv(index[2], height);
        std::vector<Expr> at = {index[0], index[1], tap, Expr::Int(d),
                                FloorMod(index[2], height)};
        at.insert(at.end(), index.begin() + 3, index.end());
        const Expr regular =
            at[4 + d] * Expr::Int(dim.stride) +
            IndexOfFlat(tap, spec.kernel)[d] * Expr::Int(dim.dilation) -
            Expr::Int(dim.pad_before);
        return Add(CastTo(how.acc, regular),
                   CastTo(how.acc, in.At(offsets, std::move(at))));
      });
  Neighbours neighbours(how, dim.input);
  neighbours.Compute(in, d, positions);
  return neighbours;
}

// What the taps read: [n, channel, rows of taps, ...].
TensorId Sampled(ImportContext& in, const DeformSpec& spec) {
  const OpContext& op = in.op();
  const Shape& x_shape = op.shape(kX);
  Interpolation how;
  how.acc = Combiner::DefaultAccumulator(op.dtype(kX));
  Shape by_tap = {x_shape[0], spec.offset_groups, spec.taps(), spec.spatial()};
  by_tap.insert(by_tap.end(), spec.output.begin(), spec.output.end());
  const TensorId offsets =
      EmitReshaped(in, in.Name(0, "offsets"), in.input(kOffset), by_tap);
  const TensorId masks =
      op.has_input(kMask)
          ? EmitReshaped(in, in.Name(0, "masks"), in.input(kMask),
                         RowsOfTaps(spec, {x_shape[0], spec.offset_groups}))
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
    position[1] =
        spec.offset_groups == 1 ? Expr::Int(0) : FloorDiv(index[1], group_size);
    return WeightedPixel(
        in, x, dims, tap, position, {index[0], index[1]},
        masks < 0 ? Expr() : CastTo(how.acc, in.At(masks, position)));
  };
  return in.Reduction(in.Name(0, "sampled"), op.dtype(kX),
                      AxesOf(RowsOfTaps(spec, {x_shape[0], x_shape[1]})), taps,
                      Combiner::Kind::kSum, "gridsample", term);
}

// The convolution that sums over what the taps read.
std::vector<WindowDim> OverRows(const DeformSpec& spec) {
  std::vector<WindowDim> window(spec.window.size());
  for (size_t d = 0; d < window.size(); ++d)
    window[d].input = window[d].output = spec.output[d];
  window[0].kernel = spec.taps();
  window[0].dilation = spec.output[0];
  window[0].input *= spec.taps();
  return window;
}

// [oc, ic, taps, 1, ...].
absl::StatusOr<TensorId> WeightsInOneColumn(ImportContext& in,
                                            const DeformSpec& spec) {
  Shape shape = in.op().shape(kWeights);
  std::fill(shape.begin() + 2, shape.end(), 1);
  shape[2] = spec.taps();
  const HostTensor* known = in.op().input(kWeights).constant.get();
  if (known == nullptr)
    return EmitReshaped(in, in.Name(0, "weights"), in.input(kWeights), shape);
  TW_ASSIGN_OR_RETURN(HostTensor column,
                      in.op().NewTensor(known->dtype(), shape));
  std::copy_n(known->data(), known->size_bytes(), column.data());
  return in.Constant(in.Name(0, "weights"), std::move(column));
}

absl::Status ImportDeformConv(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const DeformSpec spec, ReadDeform(op));
  const Shape& w_shape = op.shape(kWeights);
  const int64_t channels_in = w_shape[1];
  const int64_t channels_out = w_shape[0] / spec.groups;
  const DType acc = Combiner::DefaultAccumulator(op.dtype(kX));
  const TensorId x = Sampled(in, spec);
  TW_ASSIGN_OR_RETURN(const TensorId w, WeightsInOneColumn(in, spec));
  const TensorId bias = op.has_input(kBias) ? in.input(kBias) : -1;
  const std::vector<WindowDim> window = OverRows(spec);
  in.SetOutput(
      0, AddConvolution(in, "", window, w_shape[0], channels_in, bias,
                        [&](Index out, Index over) {
                          std::vector<Expr> at(out.begin(), out.end());
                          std::vector<Expr> tap(over.begin(), over.end());
                          tap.insert(tap.begin(), out[1]);
                          at[1] = GroupedChannel(out[1], over[0], spec.groups,
                                                 channels_in, channels_out);
                          for (size_t d = 0; d < window.size(); ++d)
                            at[2 + d] =
                                at[2 + d] +
                                over[1 + d] * Expr::Int(window[d].dilation);
                          return Mul(CastTo(acc, in.At(x, std::move(at))),
                                     CastTo(acc, in.At(w, std::move(tap))));
                        }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"DeformConv", 19, 3, 5, InferDeformConv, ImportDeformConv},
};

}  // namespace

absl::Span<const OpDef> DeformConvOps() { return kOps; }

}  // namespace tilewright

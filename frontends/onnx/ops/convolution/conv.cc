// Convolution: a padding compute where there is padding, a contraction free of
// guards, and the bias.
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
#include "frontends/onnx/ops/window.h"

namespace tilewright {
namespace {

absl::StatusOr<std::vector<WindowDim>> ConvWindow(const OpContext& op) {
  const Shape& weights = op.shape(1);
  return ReadWindow(op, op.shape(0), Shape(weights.begin() + 2, weights.end()));
}

absl::Status InferConv(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  const Shape& x = op.shape(0);
  const Shape& w = op.shape(1);
  const int64_t groups = op.Int("group", 1);
  if (x.size() != w.size() || x.size() < 3) {
    return op.Error("input ", ShapeText(x), " and weights ", ShapeText(w),
                    " must both have a spatial dimension and the same rank");
  }
  if (groups < 1 || w[0] % groups != 0) {
    return op.Error("the ", w[0], " output channels of weights ", ShapeText(w),
                    " do not divide into ", groups, " groups");
  }
  if (x[1] % groups != 0 || x[1] / groups != w[1]) {
    return op.Error("input ", ShapeText(x), " has ", x[1],
                    " channels but weights ", ShapeText(w), " in ", groups,
                    " group(s) need ", w[1], " per group; fix the model");
  }
  if (op.has_input(2) && op.shape(2) != Shape{w[0]}) {
    return op.Error("bias of shape ", ShapeText(op.shape(2)), " does not fit ",
                    w[0], " output channels");
  }
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window, ConvWindow(op));
  Shape shape = {x[0], w[0]};
  for (const WindowDim& dim : window) shape.push_back(dim.output);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Takes the taps at both ends of the kernel away that read nothing but padding;
// how many at its begin. Dilated by more than the image is wide, the middle is
// left.
int64_t DropTapsOfZeros(WindowDim& dim) {
  int64_t first = 0;
  while (dim.kernel > 1 && dim.pad_before >= dim.dilation &&
         (dim.output - 1) * dim.stride < dim.pad_before) {
    ++first;
    --dim.kernel;
    dim.pad_before -= dim.dilation;
  }
  while (dim.kernel > 1 && dim.pad_after >= dim.dilation &&
         (dim.kernel - 1) * dim.dilation - dim.pad_before >= dim.input) {
    --dim.kernel;
    dim.pad_after -= dim.dilation;
  }
  return first;
}

// Known weights without those taps, which leave `window` too; themselves if
// there are none.
absl::StatusOr<TensorId> TakeTaps(ImportContext& in,
                                  std::vector<WindowDim>& window) {
  const HostTensor& all = *in.op().input(1).constant;
  Shape shape = all.shape();
  std::vector<int64_t> first;
  for (size_t d = 0; d < window.size(); ++d) {
    first.push_back(DropTapsOfZeros(window[d]));
    shape[2 + d] = window[d].kernel;
  }
  if (shape == all.shape()) return in.input(1);
  TW_ASSIGN_OR_RETURN(HostTensor part, in.op().NewTensor(all.dtype(), shape));
  int64_t next = 0;
  ForEachPlace(shape, [&](absl::Span<const int64_t> at) {
    int64_t source = at[0] * shape[1] + at[1];
    for (size_t d = 0; d < window.size(); ++d)
      source = source * all.shape()[2 + d] + first[d] + at[2 + d];
    part.Set(next++, all.Get(source));
  });
  return in.Constant(in.Name(0, "weights"), std::move(part));
}

absl::Status ImportConv(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(std::vector<WindowDim> window, ConvWindow(op));
  const int spatial = static_cast<int>(window.size());
  TensorId w = -1;
  if (op.input(1).constant == nullptr) {
    w = in.input(1);
  } else {
    TW_ASSIGN_OR_RETURN(w, TakeTaps(in, window));
  }
  const int64_t groups = op.Int("group", 1);
  const Shape& w_shape = op.shape(1);
  const int64_t channels_out = w_shape[0] / groups;
  const int64_t channels_in = w_shape[1];
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));

  const TensorId x = PadWithZeros(in, window);
  EmitConvolution(
      in, window, w_shape[0], channels_in,
      [&](absl::Span<const Expr> out, absl::Span<const Expr> over) {
        const Expr channel =
            GroupedChannel(out[1], over[0], groups, channels_in, channels_out);
        std::vector<Expr> at = {out[0], channel};
        std::vector<Expr> tap = {out[1], over[0]};
        for (int d = 0; d < spatial; ++d) {
          at.push_back(out[2 + d] * Expr::Int(window[d].stride) +
                       over[1 + d] * Expr::Int(window[d].dilation));
          tap.push_back(over[1 + d]);
        }
        return Binary(Op::kMul, CastTo(acc, in.At(x, std::move(at))),
                      CastTo(acc, in.At(w, std::move(tap))));
      });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Conv", 6, 2, 3, InferConv, ImportConv},
};

}  // namespace

absl::Span<const OpDef> ConvOps() { return kOps; }

}  // namespace tilewright

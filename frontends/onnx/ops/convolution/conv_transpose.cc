// Transposed convolution, then the bias.
//
// Output o gets from input i what tap k = o + pad_before - i * stride weighs it
// with. With q and r the quotient and the rest of (o + pad_before) / stride,
// those are the taps r, r + stride, ... of the inputs q, q - 1, ....
//
// Outputs of equal r are a plain convolution, which transposed_phases.h makes.
// In groups, which are mostly of one channel, all outputs are one contraction
// free of guards over a padded input: weights ordered by r let each see its own
// taps. With dilation beside a stride the taps of an output are spread too;
// there the input is, with zeros between.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/convolution/convolution.h"
#include "frontends/onnx/ops/convolution/transposed_phases.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {
namespace {

constexpr int64_t kLargest = int64_t{1} << 20;
constexpr int64_t kMostOrdered = int64_t{1} << 24;  // weights

// WindowDim with input and output exchanged: input position i adds to output
// positions i * stride - pad_before + k * dilation.
absl::StatusOr<std::vector<WindowDim>> ReadTransposed(const OpContext& op) {
  const Shape& x = op.shape(0);
  const Shape& w = op.shape(1);
  const size_t count = x.size() - 2;
  TW_ASSIGN_OR_RETURN(const WindowAttributes attributes,
                      ReadWindowAttributes(op, count));
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> extra,
                      ReadInts(op, "output_padding", count, 0, 0));
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted,
                      ReadInts(op, "output_shape", count, 0, 0));
  std::vector<WindowDim> window(count);
  for (size_t d = 0; d < count; ++d) {
    WindowDim& dim = window[d];
    dim.input = x[2 + d];
    dim.kernel = w[2 + d];
    dim.stride = attributes.strides[d];
    dim.dilation = attributes.dilations[d];
    if (dim.input > kLargest || dim.kernel > kLargest) {
      return op.Error("shapes ", ShapeText(x), " and ", ShapeText(w),
                      " are out of range");
    }
    const int64_t full = dim.stride * (dim.input - 1) + extra[d] +
                         (dim.kernel - 1) * dim.dilation + 1;
    dim.output = wanted[d] != 0      ? wanted[d]
                 : attributes.same() ? dim.input * dim.stride
                                     : 0;
    if (dim.output != 0) {
      const int64_t total = std::max<int64_t>(0, full - dim.output);
      dim.pad_before =
          attributes.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      if (attributes.auto_pad == "NOTSET") {
        dim.pad_before = attributes.pads[d];
        dim.pad_after = attributes.pads[count + d];
      }
      dim.output = full - dim.pad_before - dim.pad_after;
    }
    if (dim.output < 1) {
      return op.Error("pads ", ShapeText(attributes.pads),
                      " leave nothing of dimension ", 2 + d);
    }
  }
  return window;
}

absl::Status InferConvTranspose(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  const Shape& x = op.shape(0);
  const Shape& w = op.shape(1);
  const int64_t groups = op.Int("group", 1);
  if (x.size() != w.size() || x.size() < 3) {
    return op.Error("input ", ShapeText(x), " and weights ", ShapeText(w),
                    " must both have a spatial dimension and the same rank");
  }
  if (groups < 1 || groups > w[0] || w[0] % groups != 0 || x[1] != w[0]) {
    return op.Error("input ", ShapeText(x), " and weights ", ShapeText(w),
                    " do not fit in ", groups, " group(s)");
  }
  const int64_t channels = w[1] * groups;
  if (op.has_input(2) && op.shape(2) != Shape{channels}) {
    return op.Error("bias of shape ", ShapeText(op.shape(2)), " does not fit ",
                    channels, " output channels");
  }
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window, ReadTransposed(op));
  Shape shape = {x[0], channels};
  for (const WindowDim& dim : window) shape.push_back(dim.output);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// D[o + k' * dilation] is what output o gets from the mirrored tap k'.
TensorId Spread(ImportContext& in, const std::vector<WindowDim>& window) {
  const TensorId x = in.input(0);
  Shape shape = in.op().shape(0);
  for (size_t d = 0; d < window.size(); ++d) {
    shape[2 + d] =
        window[d].output + (window[d].kernel - 1) * window[d].dilation;
  }
  return in.Elementwise(
      in.Name(0, "pad"), in.op().dtype(0), shape, "pad",
      [&](absl::Span<const Expr> index) {
        Expr inside;
        std::vector<Expr> at(index.begin(), index.end());
        for (size_t d = 0; d < window.size(); ++d) {
          const WindowDim& dim = window[d];
          const Expr position =
              index[2 + d] -
              Expr::Int((dim.kernel - 1) * dim.dilation - dim.pad_before);
          const Expr stride = Expr::Int(dim.stride);
          inside = AndAll(
              inside,
              InBounds(position, (dim.input - 1) * dim.stride + 1, true, true));
          if (dim.stride > 1) {
            inside = AndAll(inside, Binary(Op::kEq, FloorMod(position, stride),
                                           Expr::Int(0)));
          }
          at[2 + d] = FloorDiv(position, stride);
        }
        return SelectExpr(inside, in.At(x, std::move(at)),
                          Literal(in.op().dtype(0), 0));
      });
}

// Where in the ordered weights, and in the input, an output finds tap number
// `tap`, counted from the last.
struct Phases {
  int64_t taps;    // of one output: ceil(kernel / stride)
  int64_t before;  // padding of the input
  int64_t after;
  int64_t shift;  // q + tap + shift is the place in the padded input
};

Phases PhasesOf(const WindowDim& dim) {
  Phases phases;
  phases.taps = (dim.kernel + dim.stride - 1) / dim.stride;
  const int64_t first = dim.pad_before / dim.stride - (phases.taps - 1);
  const int64_t last = (dim.output - 1 + dim.pad_before) / dim.stride;
  phases.before = std::max<int64_t>(0, -first);
  phases.after = std::max<int64_t>(0, last - (dim.input - 1));
  phases.shift = phases.before - (phases.taps - 1);
  return phases;
}

// How many weights there are when ordered, taps that the kernel does not have
// included.
double OrderedElements(const Shape& weights,
                       const std::vector<WindowDim>& window) {
  double count =
      static_cast<double>(weights[0]) * static_cast<double>(weights[1]);
  for (const WindowDim& dim : window)
    count *= static_cast<double>(dim.stride * PhasesOf(dim).taps);
  return count;
}

// The weights [ic, oc, kernel...] by rest, tap and channels:
// [r, tap, r, tap, ..., ic, oc], zero where the kernel has no such tap.
absl::StatusOr<HostTensor> OrderWeights(const OpContext& op,
                                        const std::vector<WindowDim>& window,
                                        int64_t groups) {
  const HostTensor& w = *op.input(1).constant;
  const int64_t channels_in = w.shape()[0] / groups,
                channels_out = w.shape()[1];
  Shape shape;
  for (const WindowDim& dim : window) {
    shape.push_back(dim.stride);
    shape.push_back(PhasesOf(dim).taps);
  }
  shape.push_back(channels_in);
  shape.push_back(channels_out * groups);
  TW_ASSIGN_OR_RETURN(HostTensor ordered, op.NewTensor(w.dtype(), shape));
  int64_t next = 0;
  ForEachPlace(shape, [&](absl::Span<const int64_t> at) {
    const int64_t ic = at[at.size() - 2], oc = at[at.size() - 1];
    int64_t from = (oc / channels_out * channels_in + ic) * channels_out +
                   oc % channels_out;
    bool inside = true;
    for (size_t d = 0; d < window.size(); ++d) {
      const int64_t k =
          at[2 * d] + (shape[2 * d + 1] - 1 - at[2 * d + 1]) * shape[2 * d];
      inside &= k < window[d].kernel;
      from = from * window[d].kernel + k;
    }
    if (inside) ordered.Set(next, w.Get(from));
    ++next;
  });
  return ordered;
}

// Whether the weights can be ordered now. With strides far above the kernel
// nearly all phases would be zeros.
bool CanOrder(const ImportContext& in, const std::vector<WindowDim>& window) {
  const HostTensor& w = *in.op().input(1).constant;
  return OrderedElements(w.shape(), window) <=
         static_cast<double>(
             std::max<int64_t>(kMostOrdered, 4 * w.num_elements()));
}

absl::Status EmitByPhases(ImportContext& in,
                          const std::vector<WindowDim>& window,
                          int64_t groups) {
  const Shape& w_shape = in.op().shape(1);
  const int64_t channels_in = w_shape[0] / groups, channels_out = w_shape[1];
  const DType acc = Combiner::DefaultAccumulator(in.op().dtype(0));
  std::vector<WindowDim> taps = window;
  for (WindowDim& dim : taps) {
    const Phases phases = PhasesOf(dim);
    dim.kernel = phases.taps;
    dim.pad_before = phases.before;
    dim.pad_after = phases.after;
  }
  const TensorId x = PadWithZeros(in, taps);
  TW_ASSIGN_OR_RETURN(HostTensor ordered,
                      OrderWeights(in.op(), window, groups));
  const TensorId w = in.Constant(in.Name(0, "weights"), std::move(ordered));
  EmitConvolution(
      in, taps, channels_out * groups, channels_in,
      [&](absl::Span<const Expr> out, absl::Span<const Expr> over) {
        const Expr channel =
            GroupedChannel(out[1], over[0], groups, channels_in, channels_out);
        std::vector<Expr> at = {out[0], channel}, tap;
        for (size_t d = 0; d < window.size(); ++d) {
          const Expr stride = Expr::Int(window[d].stride);
          const Expr place = out[2 + d] + Expr::Int(window[d].pad_before);
          at.push_back(FloorDiv(place, stride) + over[1 + d] +
                       Expr::Int(PhasesOf(window[d]).shift));
          tap.push_back(FloorMod(place, stride));
          tap.push_back(over[1 + d]);
        }
        tap.push_back(over[0]);
        tap.push_back(out[1]);
        return Binary(Op::kMul, CastTo(acc, in.At(x, std::move(at))),
                      CastTo(acc, in.At(w, std::move(tap))));
      });
  return absl::OkStatus();
}

void EmitBySpreading(ImportContext& in, const std::vector<WindowDim>& window,
                     int64_t groups) {
  const OpContext& op = in.op();
  const int spatial = static_cast<int>(window.size());
  const Shape& w_shape = op.shape(1);
  const int64_t channels_in = w_shape[0] / groups;
  const int64_t channels_out = w_shape[1];
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = Spread(in, window);
  const TensorId w = in.input(1);
  EmitConvolution(
      in, window, channels_out * groups, channels_in,
      [&](absl::Span<const Expr> out, absl::Span<const Expr> over) {
        const Expr channel =
            GroupedChannel(out[1], over[0], groups, channels_in, channels_out);
        const Expr filter =
            groups > 1 ? FloorMod(out[1], Expr::Int(channels_out)) : out[1];
        std::vector<Expr> at = {out[0], channel};
        std::vector<Expr> tap = {channel, filter};
        for (int d = 0; d < spatial; ++d) {
          at.push_back(out[2 + d] +
                       over[1 + d] * Expr::Int(window[d].dilation));
          tap.push_back(Expr::Int(window[d].kernel - 1) - over[1 + d]);
        }
        return Binary(Op::kMul, CastTo(acc, in.At(x, std::move(at))),
                      CastTo(acc, in.At(w, std::move(tap))));
      });
}

absl::Status ImportConvTranspose(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ReadTransposed(in.op()));
  const int64_t groups = in.op().Int("group", 1);
  // Whether the taps of an output follow each other, and are known.
  const bool follow =
      in.op().input(1).constant != nullptr &&
      std::all_of(window.begin(), window.end(),
                  [](const WindowDim& dim) { return dim.dilation == 1; });
  if (follow && groups == 1 && window.size() <= kMostPhaseDims)
    return EmitPhaseConvolutions(in, window);
  if (follow && CanOrder(in, window)) return EmitByPhases(in, window, groups);
  EmitBySpreading(in, window, groups);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"ConvTranspose", 6, 2, 3, InferConvTranspose, ImportConvTranspose},
};

}  // namespace

absl::Span<const OpDef> ConvTransposeOps() { return kOps; }

}  // namespace tilewright

// Products of 8-bit integers summed in 32 bits, exact and wrapping:
// ConvInteger, MatMulInteger, and QLinearConv and QLinearMatMul, which bring
// the sums back to 8 bits.
//
// Where the weights are constant and, less their zero points, fit in i8, the
// zero point of the other operand, known or not, leaves the sum:
//   sum of (x - zx) * w  =  sum of x * w  -  zx * sum of w,
// with x as u8, so that the sum is one that machines have an instruction for
// (tilegraph/ir/intrinsics.h); terms are filled up to whole groups of them.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/convolution/convolution.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/integer_operands.h"
#include "frontends/onnx/ops/matmul_shape.h"
#include "frontends/onnx/ops/window.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

constexpr DType kSum = DType::kInt32;
struct Operands {
  Operand x, w;
};
constexpr Operands kInteger = {{0, 2}, {1, 3}};
constexpr Operands kQLinear = {{0, 2}, {3, 5}};
// Inputs of QLinearConv and QLinearMatMul.
constexpr int kXScale = 1, kWScale = 4, kYScale = 6, kYZero = 7, kBias = 8;

// Scales of the operands and the result; one each, or one per `channels`.
absl::Status CheckScales(const OpContext& op, int64_t channels) {
  for (const int i : {kXScale, kWScale, kYScale}) {
    TW_RETURN_IF_ERROR(RequireType(op, i, TypeClass::kFloat));
    if (Known(op, i) == nullptr)
      return op.Unsupported("a scale that is not constant");
    const Shape& shape = op.shape(i);
    const bool one = Product(shape, 0, shape.size()) == 1;
    if (!one && (i != kWScale || shape != Shape{channels}))
      return op.Unsupported("scales of shape ", ShapeText(shape));
  }
  const Shape& zero = op.shape(kYZero);
  if (!Is8Bit(op.dtype(kYZero)) || Product(zero, 0, zero.size()) != 1)
    return op.Unsupported("a result other than of 8 bits with one zero point");
  return absl::OkStatus();
}

// Sums of products, and what each channel still lacks (empty: nothing), or what
// it lacks for each 1 of `zero` if that is not known.
struct Sums {
  TensorId tensor;
  std::vector<int64_t> corrections;
  UnsignedZero zero;
};

void Correct(Sums& sums, const HostTensor& w, int dim,
             const UnsignedZero& zero) {
  sums.corrections = Corrections(w, dim, zero.known.value_or(1));
  sums.zero = zero;
}

bool AnyNonZero(const std::vector<int64_t>& values) {
  for (const int64_t value : values) {
    if (value != 0) return true;
  }
  return false;
}

// They are the node's own result where nothing follows.
std::string SumsName(const ImportContext& in, const Sums& sums) {
  const bool last =
      in.op().output(0).dtype == kSum && !AnyNonZero(sums.corrections);
  return in.Name(0, last ? "" : "sums");
}

absl::StatusOr<std::vector<WindowDim>> ConvWindow(const OpContext& op,
                                                  const Operands& operands) {
  const Shape& w = op.shape(operands.w.value);
  return ReadWindow(op, op.shape(operands.x.value),
                    Shape(w.begin() + 2, w.end()));
}

// The image u8 within its frame, channels last and filled up to a group.
TensorId ChannelsLastFrame(ImportContext& in, TensorId x,
                           const std::vector<WindowDim>& window,
                           const Expr& outside) {
  const Shape from = in.shape_of(x);
  Shape shape = {from[0]};
  for (const WindowDim& dim : window)
    shape.push_back(dim.input + dim.pad_before + dim.pad_after);
  shape.push_back(RoundUpToGroup(from[1]));
  return in.Elementwise(
      in.Name(0, "pad"), DType::kUInt8, shape, "pad",
      [&](absl::Span<const Expr> index) {
        Expr inside = InBounds(index.back(), from[1], false, true);
        std::vector<Expr> at = {index[0], index.back()};
        for (size_t d = 0; d < window.size(); ++d) {
          const WindowDim& dim = window[d];
          at.push_back(index[1 + d] - Expr::Int(dim.pad_before));
          inside =
              AndAll(inside, InBounds(at.back(), dim.input, dim.pad_before > 0,
                                      dim.pad_after > 0));
        }
        return SelectExpr(inside, in.At(x, at), outside);
      });
}

absl::StatusOr<Sums> ConvSums(ImportContext& in, const Operands& operands) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ConvWindow(op, operands));
  const Shape& w_shape = op.shape(operands.w.value);
  const int64_t groups = op.Int("group", 1);
  const int64_t channels_out = w_shape[0] / groups;
  const std::optional<HostTensor> centred = Centred(op, operands.w, 0);
  const std::optional<UnsignedZero> zero = UnsignedZeroOf(in, operands.x);
  const bool narrow = centred.has_value() && zero.has_value();
  const bool last = narrow && groups == 1 && w_shape[1] % kTermGroup != 0;

  Sums sums;
  TensorId x, w;
  if (narrow) {
    x = AsUnsigned(in, operands.x.value);
    const Expr outside = zero->AsByte(in);
    x = last ? ChannelsLastFrame(in, x, window, outside)
             : PadFrame(in, x, window, outside);
    w = in.Constant(in.Name(0, "weights"),
                    last ? Filled(*centred, 1) : *centred);
    Correct(sums, *centred, 0, *zero);
  } else {
    x = PadFrame(in, Widened(in, operands.x, 1, "x"), window, Literal(kSum, 0));
    w = Widened(in, operands.w, 0, "w");
  }
  const int64_t channels_in = last ? RoundUpToGroup(w_shape[1]) : w_shape[1];
  sums.tensor = in.Reduction(
      SumsName(in, sums), kSum,
      ConvolutionAxes(op.shape(operands.x.value)[0], w_shape[0], window),
      ConvolutionTerms(channels_in, window), Combiner::Kind::kSum,
      ComputeRole::kConvolution,
      [&](absl::Span<const Expr> out, absl::Span<const Expr> over) {
        const Expr channel =
            GroupedChannel(out[1], over[0], groups, channels_in, channels_out);
        std::vector<Expr> at = {out[0]}, tap = {out[1], over[0]};
        if (!last) at.push_back(channel);
        for (size_t d = 0; d < window.size(); ++d) {
          at.push_back(out[2 + d] * Expr::Int(window[d].stride) +
                       over[1 + d] * Expr::Int(window[d].dilation));
          tap.push_back(over[1 + d]);
        }
        if (last) at.push_back(channel);
        return Binary(Op::kMul, CastTo(kSum, in.At(x, std::move(at))),
                      CastTo(kSum, in.At(w, std::move(tap))));
      });
  return sums;
}

absl::StatusOr<Sums> MatMulSums(ImportContext& in, const Operands& operands) {
  const OpContext& op = in.op();
  const int a_input = operands.x.value, b_input = operands.w.value;
  TW_ASSIGN_OR_RETURN(const MatMulShape s, ReadMatMul(op, a_input, b_input));
  std::optional<HostTensor> centred;
  if (op.rank(b_input) == 2) centred = Centred(op, operands.w, 1);
  const std::optional<UnsignedZero> zero = UnsignedZeroOf(in, operands.x);

  Sums sums;
  TensorId a, b;
  Shape a_shape = op.shape(a_input);
  int64_t k = s.k;
  if (centred.has_value() && zero.has_value()) {
    a = AsUnsigned(in, a_input);
    if (k % kTermGroup != 0) {
      const TensorId whole = a;
      a_shape.back() = k = RoundUpToGroup(s.k);
      a = in.Elementwise(in.Name(0, "pad"), DType::kUInt8, a_shape, "pad",
                         [&](absl::Span<const Expr> index) {
                           return SelectExpr(
                               InBounds(index.back(), s.k, false, true),
                               in.At(whole, {index.begin(), index.end()}),
                               Literal(DType::kUInt8, 0));
                         });
    }
    b = in.Constant(in.Name(0, "weights"), Filled(*centred, 0));
    Correct(sums, *centred, 1, *zero);
  } else {
    a = Widened(in, operands.x, op.rank(a_input) - 2, "a");
    b = Widened(in, operands.w, op.rank(b_input) - 1, "b");
  }
  sums.tensor = in.Reduction(
      SumsName(in, sums), kSum, s.Axes(), {{"k", k}}, Combiner::Kind::kSum,
      "matmul",
      [&](absl::Span<const Expr> index, absl::Span<const Expr> reduced) {
        return Binary(
            Op::kMul,
            CastTo(kSum, in.At(a, s.Left(a_shape, index, reduced[0]))),
            CastTo(kSum,
                   in.At(b, s.Right(op.shape(b_input), index, reduced[0]))));
      });
  return sums;
}

// The sums at an index, complete. `channel`: the dimension of the channels.
class CompleteSums {
 public:
  CompleteSums(ImportContext& in, Sums sums, int channel)
      : in_(in), sums_(std::move(sums)), channel_(channel) {
    if (!AnyNonZero(sums_.corrections)) return;
    HostTensor values(kSum, {static_cast<int64_t>(sums_.corrections.size())});
    for (int64_t i = 0; i < values.num_elements(); ++i)
      values.Set(i, Scalar{0, static_cast<int32_t>(sums_.corrections[i])});
    corrections_ = in.Constant(in.Name(0, "correction"), std::move(values));
  }
  Expr At(absl::Span<const Expr> index) const {
    const Expr sum = in_.Load(sums_.tensor, index);
    if (corrections_ < 0) return sum;
    Expr correction = in_.LoadAligned(corrections_, index, channel_);
    if (!sums_.zero.known.has_value())
      correction = Binary(Op::kMul, correction, sums_.zero.Value(in_));
    return Binary(Op::kAdd, sum, correction);
  }

 private:
  ImportContext& in_;
  const Sums sums_;
  const int channel_;
  TensorId corrections_ = -1;
};

void EmitInteger(ImportContext& in, Sums sums, int channel) {
  if (!AnyNonZero(sums.corrections)) {
    in.SetOutput(0, sums.tensor);
    return;
  }
  const CompleteSums complete(in, std::move(sums), channel);
  in.EmitElementwise(0, "correct", [&](absl::Span<const Expr> index) {
    return complete.At(index);
  });
}

// Sums times the product of the scales over the result's, rounded.
void EmitQLinear(ImportContext& in, Sums sums, int channel) {
  const OpContext& op = in.op();
  const HostTensor& w_scale = *Known(op, kWScale);
  HostTensor scales(DType::kFloat32, {w_scale.num_elements()});
  for (int64_t i = 0; i < scales.num_elements(); ++i) {
    scales.Set(i, Scalar{Known(op, kXScale)->Get(0).f * w_scale.Get(i).f /
                             Known(op, kYScale)->Get(0).f,
                         0});
  }
  const TensorId scale = in.Constant(in.Name(0, "scale"), std::move(scales));
  const CompleteSums complete(in, std::move(sums), channel);
  const TensorId bias = op.has_input(kBias) ? in.input(kBias) : -1;
  const TensorId zero = in.input(kYZero);
  in.EmitElementwise(0, "requantize", [&](absl::Span<const Expr> index) {
    Expr sum = complete.At(index);
    if (bias >= 0)
      sum = Binary(Op::kAdd, sum, in.LoadAligned(bias, index, channel));
    const Expr value = Binary(Op::kMul, CastTo(DType::kFloat32, sum),
                              in.LoadAligned(scale, index, channel));
    const Expr shift =
        in.At(zero, std::vector<Expr>(op.shape(kYZero).size(), Expr::Int(0)));
    return Quantized(value, CastTo(DType::kFloat32, shift), op.output(0).dtype);
  });
}

absl::Status InferConvSums(OpContext& op, const Operands& operands,
                           DType result) {
  const Shape& x = op.shape(operands.x.value);
  const Shape& w = op.shape(operands.w.value);
  const int64_t groups = op.Int("group", 1);
  if (x.size() != w.size() || x.size() < 3) {
    return op.Error("input ", ShapeText(x), " and weights ", ShapeText(w),
                    " must both have a spatial dimension and the same rank");
  }
  if (groups < 1 || w[0] % groups != 0 || x[1] % groups != 0 ||
      x[1] / groups != w[1]) {
    return op.Error("input ", ShapeText(x), " and weights ", ShapeText(w),
                    " do not fit in ", groups, " group(s); fix the model");
  }
  TW_RETURN_IF_ERROR(CheckOperand(op, operands.x, -1));
  TW_RETURN_IF_ERROR(CheckOperand(op, operands.w, 0));
  TW_ASSIGN_OR_RETURN(const std::vector<WindowDim> window,
                      ConvWindow(op, operands));
  Shape shape = {x[0], w[0]};
  for (const WindowDim& dim : window) shape.push_back(dim.output);
  op.SetOutput(0, result, std::move(shape));
  return absl::OkStatus();
}

absl::Status InferMatMulSums(OpContext& op, const Operands& operands,
                             DType result) {
  TW_ASSIGN_OR_RETURN(const MatMulShape s,
                      ReadMatMul(op, operands.x.value, operands.w.value));
  TW_RETURN_IF_ERROR(
      CheckOperand(op, operands.x, op.rank(operands.x.value) == 2 ? 0 : -1));
  TW_RETURN_IF_ERROR(CheckOperand(
      op, operands.w, s.has_n ? op.rank(operands.w.value) - 1 : -1));
  op.SetOutput(0, result, s.Output());
  return absl::OkStatus();
}

absl::Status InferConvInteger(OpContext& op) {
  return InferConvSums(op, kInteger, kSum);
}
absl::Status InferMatMulInteger(OpContext& op) {
  return InferMatMulSums(op, kInteger, kSum);
}
absl::Status InferQLinearConv(OpContext& op) {
  TW_RETURN_IF_ERROR(InferConvSums(op, kQLinear, op.dtype(kYZero)));
  if (op.has_input(kBias) &&
      (op.dtype(kBias) != kSum || op.shape(kBias) != Shape{op.shape(3)[0]})) {
    return op.Error("bias of shape ", ShapeText(op.shape(kBias)),
                    " is no i32 per output channel");
  }
  return CheckScales(op, op.shape(3)[0]);
}
absl::Status InferQLinearMatMul(OpContext& op) {
  TW_RETURN_IF_ERROR(InferMatMulSums(op, kQLinear, op.dtype(kYZero)));
  return CheckScales(op, op.shape(3).back());
}

absl::Status ImportConvInteger(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(Sums sums, ConvSums(in, kInteger));
  EmitInteger(in, std::move(sums), 1);
  return absl::OkStatus();
}
absl::Status ImportQLinearConv(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(Sums sums, ConvSums(in, kQLinear));
  EmitQLinear(in, std::move(sums), 1);
  return absl::OkStatus();
}

int LastDim(const ImportContext& in) {
  return static_cast<int>(in.op().output(0).shape.size()) - 1;
}
absl::Status ImportMatMulInteger(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(Sums sums, MatMulSums(in, kInteger));
  EmitInteger(in, std::move(sums), LastDim(in));
  return absl::OkStatus();
}
absl::Status ImportQLinearMatMul(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(Sums sums, MatMulSums(in, kQLinear));
  EmitQLinear(in, std::move(sums), LastDim(in));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"ConvInteger", 10, 2, 4, InferConvInteger, ImportConvInteger},
    {"MatMulInteger", 10, 2, 4, InferMatMulInteger, ImportMatMulInteger},
    {"QLinearConv", 10, 8, 9, InferQLinearConv, ImportQLinearConv},
    {"QLinearMatMul", 10, 8, 8, InferQLinearMatMul, ImportQLinearMatMul},
};

}  // namespace

absl::Span<const OpDef> IntegerOps() { return kOps; }

}  // namespace tilewright

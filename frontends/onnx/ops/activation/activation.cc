// Activation functions.
#include <cmath>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/activation/activation_functions.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

// In f32 if it is stored in less.
Expr Widened(const Expr& stored) {
  return stored.dtype() == DType::kFloat64 ? stored
                                           : CastTo(DType::kFloat32, stored);
}

// From here on the tanh of a softplus is 1, also in double.
constexpr double kMishIsLinear = 20;

// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). In f32 if it is
// stored in less: n has twice the digits of e^x before its point.
Expr Mish(const Expr& stored) {
  const Expr x = Widened(stored);
  const DType dtype = x.dtype();
  const Expr power =
      Unary(Op::kExp, Binary(Op::kMin, x, Literal(dtype, kMishIsLinear)));
  const Expr n = Binary(Op::kMul, power, Add(power, 2));
  return CastTo(stored.dtype(),
                Binary(Op::kMul, x, Binary(Op::kDiv, n, Add(n, 2))));
}

Expr HardSwish(const Expr& x) { return Mul(x, HardSigmoid(x, 1.0 / 6, 0.5)); }

// A function of the element and the node's float attributes.
using WithAttributes = Expr (*)(const OpContext& op, const Expr& x);

template <WithAttributes F>
absl::Status Import(ImportContext& in) {
  const TensorId x = in.input(0);
  in.EmitElementwise(0, HintOf(in.op()), [&](absl::Span<const Expr> index) {
    return F(in.op(), in.Load(x, index));
  });
  return absl::OkStatus();
}

Expr LeakyRelu(const OpContext& op, const Expr& x) {
  return LeakyRelu(x, op.Float("alpha", 0.01f));
}

Expr Elu(const OpContext& op, const Expr& x) {
  return Elu(x, op.Float("alpha", 1));
}

Expr Selu(const OpContext& op, const Expr& x) {
  const double alpha = op.Float("alpha", 1.67326319217681884765625f);
  const double gamma = op.Float("gamma", 1.05070102214813232421875f);
  return Mul(Elu(x, alpha), gamma);
}

Expr Celu(const OpContext& op, const Expr& x) {
  const double alpha = op.Float("alpha", 1);
  const Expr scaled = Binary(Op::kDiv, x, Literal(x.dtype(), alpha));
  return IfBelow(x, 0, Mul(Add(Unary(Op::kExp, scaled), -1), alpha), x);
}

Expr HardSigmoid(const OpContext& op, const Expr& x) {
  return HardSigmoid(x, op.Float("alpha", 0.2f), op.Float("beta", 0.5f));
}

Expr ThresholdedRelu(const OpContext& op, const Expr& x) {
  const DType t = x.dtype();
  return SelectExpr(Binary(Op::kLe, x, Literal(t, op.Float("alpha", 1))),
                    Literal(t, 0), x);
}

Expr Shrink(const OpContext& op, const Expr& x) {
  const double bias = op.Float("bias", 0);
  const double bound = op.Float("lambd", 0.5f);
  const DType t = x.dtype();
  return IfBelow(x, -bound, Add(x, bias),
                 SelectExpr(Binary(Op::kGt, x, Literal(t, bound)),
                            Add(x, -bias), Literal(t, 0)));
}

Expr Swish(const OpContext& op, const Expr& x) {
  return Mul(x, Unary(Op::kSigmoid, Mul(x, op.Float("alpha", 1))));
}

absl::Status InferGelu(OpContext& op) {
  const std::string form = op.String("approximate", "none");
  if (form != "none" && form != "tanh") {
    return op.Error("attribute 'approximate' is ", Quoted(form),
                    "; it must be 'none' or 'tanh'");
  }
  return InferSameFloat(op);
}

// x/2 (1 + f) with f by the other half is x/2 + x/2 f, one operation fewer.
Expr Gelu(const OpContext& op, const Expr& stored) {
  const Expr x = Widened(stored);
  const Expr half = Mul(x, 0.5);
  Expr inner;
  if (op.String("approximate", "none") == "tanh") {
    const Expr cube = Mul(Mul(x, x), x);
    inner =
        Unary(Op::kTanh, Mul(Add(x, Mul(cube, 0.044715)), std::sqrt(2 / M_PI)));
  } else {
    inner = Unary(Op::kErf, Mul(x, std::sqrt(0.5)));
  }
  return CastTo(stored.dtype(),
                Binary(Op::kAdd, half, Binary(Op::kMul, half, inner)));
}

// Before opset 7 a slope of one dimension is one per channel.
bool SlopePerChannel(const OpContext& op) {
  return op.opset() < 7 && op.rank(0) > 1 && op.rank(1) == 1 &&
         op.shape(1)[0] == op.shape(0)[1];
}

absl::Status InferPRelu(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  if (SlopePerChannel(op)) return InferSameNumeric(op);
  TW_ASSIGN_OR_RETURN(const Shape shape,
                      BroadcastShapes(op, op.shape(0), op.shape(1)));
  if (shape != op.shape(0)) {
    return op.Error("slope of shape ", ShapeText(op.shape(1)),
                    " does not broadcast to ", ShapeText(op.shape(0)));
  }
  return InferSameNumeric(op);
}

absl::Status ImportPRelu(ImportContext& in) {
  const TensorId x = in.input(0);
  const TensorId slope = in.input(1);
  in.EmitElementwise(0, "prelu", [&](absl::Span<const Expr> index) {
    const Expr value = in.Load(x, index);
    const Expr factor = SlopePerChannel(in.op())
                            ? in.LoadAligned(slope, index, 1)
                            : in.Load(slope, index);
    return IfBelow(value, 0, Mul(value, factor), value);
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Relu", 6, 1, 1, InferSameNumeric, ImportUnary<Relu>},
    {"Sigmoid", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kSigmoid>>},
    {"Tanh", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kTanh>>},
    {"LeakyRelu", 6, 1, 1, InferSameFloat, Import<LeakyRelu>},
    {"PRelu", 6, 2, 2, InferPRelu, ImportPRelu},
    {"Elu", 6, 1, 1, InferSameFloat, Import<Elu>},
    {"Selu", 6, 1, 1, InferSameFloat, Import<Selu>},
    {"Celu", 12, 1, 1, InferSameFloat, Import<Celu>},
    {"Softplus", 6, 1, 1, InferSameFloat, ImportUnary<Softplus>},
    {"Softsign", 6, 1, 1, InferSameFloat, ImportUnary<Softsign>},
    {"Mish", 18, 1, 1, InferSameFloat, ImportUnary<Mish>},
    {"HardSigmoid", 6, 1, 1, InferSameFloat, Import<HardSigmoid>},
    {"HardSwish", 14, 1, 1, InferSameFloat, ImportUnary<HardSwish>},
    {"Swish", 24, 1, 1, InferSameFloat, Import<Swish>},
    {"ThresholdedRelu", 10, 1, 1, InferSameFloat, Import<ThresholdedRelu>},
    {"Shrink", 9, 1, 1, InferSameFloat, Import<Shrink>},
    {"Gelu", 20, 1, 1, InferGelu, Import<Gelu>},
};

}  // namespace

absl::Span<const OpDef> ActivationOps() { return kOps; }

}  // namespace tilewright

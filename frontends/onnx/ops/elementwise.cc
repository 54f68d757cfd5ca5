// Arithmetic, comparison and logic on elements, with broadcasting; casts.
#include <cmath>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

// Longer sums are split into several computes.
constexpr int kMostTerms = 16;

// Before opset 7 broadcasting was asked for by an attribute: the dimensions of
// the second input start at dimension `axis` of the first. -1: as today.
absl::StatusOr<int> LegacyAxis(const OpContext& op) {
  if (op.opset() >= 7 || op.Int("broadcast", 0) == 0 ||
      !op.HasAttribute("axis")) {
    return -1;
  }
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  if (axis + op.rank(1) > op.rank(0)) {
    return op.Error("shapes ", ShapeText(op.shape(0)), " and ",
                    ShapeText(op.shape(1)), " do not broadcast from axis ",
                    axis);
  }
  return axis;
}

absl::Status InferBroadcast(OpContext& op, TypeClass wanted, bool to_bool) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  Shape shape;
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) return op.Error("input ", i, " is missing");
    TW_RETURN_IF_ERROR(RequireType(op, i, wanted));
    if (i == 1 && op.num_inputs() == 2) {
      TW_ASSIGN_OR_RETURN(const int axis, LegacyAxis(op));
      if (axis >= 0) {
        Shape padded = op.shape(1);
        padded.resize(op.rank(0) - axis, 1);
        TW_ASSIGN_OR_RETURN(shape, BroadcastShapes(op, shape, padded));
        continue;
      }
    }
    TW_ASSIGN_OR_RETURN(shape, BroadcastShapes(op, shape, op.shape(i)));
  }
  op.SetOutput(0, to_bool ? DType::kBool : op.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status InferArithmetic(OpContext& op) {
  return InferBroadcast(op, TypeClass::kNumeric, false);
}
absl::Status InferFloatArithmetic(OpContext& op) {
  return InferBroadcast(op, TypeClass::kFloat, false);
}
absl::Status InferCompare(OpContext& op) {
  return InferBroadcast(op, TypeClass::kNumeric, true);
}
absl::Status InferEqual(OpContext& op) {
  return InferBroadcast(op, TypeClass::kAny, true);
}
absl::Status InferLogic(OpContext& op) {
  return InferBroadcast(op, TypeClass::kBool, true);
}
absl::Status InferNot(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kBool));
  return InferSame(op);
}

template <Expr (*F)(const Expr&, const Expr&)>
absl::Status ImportBinary(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const int axis, LegacyAxis(in.op()));
  const TensorId a = in.input(0);
  const TensorId b = in.input(1);
  in.EmitElementwise(0, HintOf(in.op()), [&](absl::Span<const Expr> index) {
    return F(in.Load(a, index),
             axis < 0 ? in.Load(b, index) : in.LoadAligned(b, index, axis));
  });
  return absl::OkStatus();
}

template <Op kOp>
Expr Join(const Expr& a, const Expr& b) {
  return Binary(kOp, a, b);
}

// Any number of inputs, from left to right.
template <Op kOp, bool kMean>
absl::Status ImportVariadic(ImportContext& in) {
  const OpContext& op = in.op();
  const int count = op.num_inputs();
  std::vector<TensorId> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(in.input(i));
  if (count == 1) {
    in.SetOutput(0, inputs[0]);
    return absl::OkStatus();
  }
  TensorId so_far = inputs[0];
  int next = 1;
  while (count - next > kMostTerms) {
    const TensorId before = so_far;
    so_far = in.Elementwise(in.Name(0, "part"), op.dtype(0), op.output(0).shape,
                            HintOf(op), [&](absl::Span<const Expr> index) {
                              Expr value = in.Load(before, index);
                              for (int k = 0; k < kMostTerms; ++k) {
                                value = Binary(kOp, value,
                                               in.Load(inputs[next++], index));
                              }
                              return value;
                            });
  }
  in.EmitElementwise(0, HintOf(op), [&](absl::Span<const Expr> index) {
    Expr value = in.Load(so_far, index);
    while (next < count) {
      value = Binary(kOp, value, in.Load(inputs[next++], index));
    }
    if (kMean) value = Binary(Op::kDiv, value, Literal(value.dtype(), count));
    return value;
  });
  return absl::OkStatus();
}

Expr Sign(const Expr& x) {
  const DType t = x.dtype();
  const Expr zero = Literal(t, 0);
  const Expr positive = SelectExpr(Binary(Op::kGt, x, zero), Literal(t, 1), x);
  const bool is_signed = IsFloat(t) || t == DType::kInt8 ||
                         t == DType::kInt16 || t == DType::kInt32 ||
                         t == DType::kInt64;
  if (!is_signed) return positive;
  return SelectExpr(Binary(Op::kLt, x, zero), Literal(t, -1), positive);
}

Expr Reciprocal(const Expr& x) {
  return Binary(Op::kDiv, Literal(x.dtype(), 1), x);
}

Expr Tan(const Expr& x) {
  return Binary(Op::kDiv, Unary(Op::kSin, x), Unary(Op::kCos, x));
}

// IEEE remainder of the truncated quotient, as C's fmod.
Expr TruncatedMod(const Expr& a, const Expr& b) {
  Expr quotient = Binary(Op::kDiv, a, b);
  if (IsFloat(a.dtype())) {
    quotient =
        SelectExpr(Binary(Op::kLt, quotient, Literal(a.dtype(), 0)),
                   Unary(Op::kCeil, quotient), Unary(Op::kFloor, quotient));
  }
  return Binary(Op::kSub, a, Binary(Op::kMul, quotient, b));
}

absl::Status InferMod(OpContext& op) {
  if (op.Int("fmod", 0) == 0 && IsFloat(op.dtype(0))) {
    return op.Error("fmod must be 1 for inputs of type ",
                    DTypeText(op.dtype(0)));
  }
  return InferArithmetic(op);
}

absl::Status ImportMod(ImportContext& in) {
  return in.op().Int("fmod", 0) != 0 ? ImportBinary<TruncatedMod>(in)
                                     : ImportBinary<Join<Op::kFloorMod>>(in);
}

absl::Status InferPow(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_RETURN_IF_ERROR(RequireType(op, 1, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(Shape shape,
                      BroadcastShapes(op, op.shape(0), op.shape(1)));
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// The base's dtype is the result's; integers are raised in double.
Expr Pow(const Expr& base, const Expr& exponent) {
  const DType t = base.dtype();
  if (exponent.op() == Op::kConst) {
    const double power = IsFloat(exponent.dtype())
                             ? exponent.float_value()
                             : static_cast<double>(exponent.int_value());
    if (power == 2) return Binary(Op::kMul, base, base);
  }
  const DType work = IsFloat(t) ? t : DType::kFloat64;
  return CastTo(t,
                Binary(Op::kPow, CastTo(work, base), CastTo(work, exponent)));
}

absl::Status InferWhere(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kBool));
  TW_RETURN_IF_ERROR(RequireSameType(op, 1));
  TW_ASSIGN_OR_RETURN(Shape shape,
                      BroadcastShapes(op, op.shape(1), op.shape(2)));
  TW_ASSIGN_OR_RETURN(shape, BroadcastShapes(op, op.shape(0), shape));
  op.SetOutput(0, op.dtype(1), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportWhere(ImportContext& in) {
  const TensorId condition = in.input(0);
  const TensorId then = in.input(1);
  const TensorId otherwise = in.input(2);
  in.EmitElementwise(0, "where", [&](absl::Span<const Expr> index) {
    return SelectExpr(in.Load(condition, index), in.Load(then, index),
                      in.Load(otherwise, index));
  });
  return absl::OkStatus();
}

// Bounds are attributes before opset 11, then optional inputs.
absl::Status InferClip(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  for (int i = 1; i < 3; ++i) {
    if (op.has_input(i) && Product(op.shape(i), 0, op.rank(i)) != 1) {
      return op.Error("a bound has shape ", ShapeText(op.shape(i)),
                      " where a scalar is needed");
    }
  }
  return InferSameNumeric(op);
}

absl::Status ImportClip(ImportContext& in) {
  const OpContext& op = in.op();
  const DType t = op.dtype(0);
  const TensorId x = in.input(0);
  const TensorId low = op.has_input(1) ? in.input(1) : -1;
  const TensorId high = op.has_input(2) ? in.input(2) : -1;
  in.EmitElementwise(0, "clip", [&](absl::Span<const Expr> index) {
    Expr value = in.Load(x, index);
    const auto bound = [&](TensorId id) {
      return in.LoadAligned(id, index, 0);
    };
    if (op.HasAttribute("min")) {
      value = Binary(Op::kMax, value, Literal(t, op.Float("min", 0)));
    } else if (low >= 0) {
      value = Binary(Op::kMax, value, bound(low));
    }
    if (op.HasAttribute("max")) {
      value = Binary(Op::kMin, value, Literal(t, op.Float("max", 0)));
    } else if (high >= 0) {
      value = Binary(Op::kMin, value, bound(high));
    }
    return value;
  });
  return absl::OkStatus();
}

absl::Status InferIsNumber(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  op.SetOutput(0, DType::kBool, op.shape(0));
  return absl::OkStatus();
}

absl::Status ImportIsInf(ImportContext& in) {
  const bool negative = in.op().Int("detect_negative", 1) != 0;
  const bool positive = in.op().Int("detect_positive", 1) != 0;
  const TensorId x = in.input(0);
  in.EmitElementwise(0, "isinf", [&](absl::Span<const Expr> index) {
    const Expr value = in.Load(x, index);
    const DType t = value.dtype();
    const Expr down = Binary(Op::kEq, value, Literal(t, -INFINITY));
    const Expr up = Binary(Op::kEq, value, Literal(t, INFINITY));
    if (negative && positive) return Binary(Op::kOr, down, up);
    if (negative) return down;
    if (positive) return up;
    return Expr::Int(0, DType::kBool);
  });
  return absl::OkStatus();
}

absl::Status InferCast(OpContext& op) {
  const int64_t to = op.Int("to", 0);
  const std::optional<ElementType> type = ElementTypeOf(to);
  if (!type.has_value()) return op.Unsupported("casting to ", OnnxTypeName(to));
  op.SetOutput(0, type->dtype, op.shape(0), type->narrow_bits);
  return absl::OkStatus();
}

absl::Status InferCastLike(OpContext& op) {
  op.SetOutput(0, op.dtype(1), op.shape(0), op.input(1).narrow_bits);
  return absl::OkStatus();
}

// The lowest `bits` of an integer, as `to`, i8 or u8. A float is cut first.
Expr LowBits(Expr value, DType to, int bits) {
  if (IsFloat(value.dtype())) value = CastTo(DType::kInt32, value);
  value = CastTo(to, value);
  const Expr low = Binary(Op::kAnd, value, Literal(to, (1 << bits) - 1));
  if (to == DType::kUInt8) return low;
  const Expr sign = Literal(to, 1 << (bits - 1));
  return Binary(Op::kSub, Binary(Op::kXor, low, sign), sign);
}

absl::Status ImportCast(ImportContext& in) {
  const TensorId x = in.input(0);
  const DType to = in.op().output(0).dtype;
  const int bits = in.op().output(0).narrow_bits;
  if (to == in.op().dtype(0) && bits == in.op().input(0).narrow_bits) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "cast", [&](absl::Span<const Expr> index) {
    const Expr value = in.Load(x, index);
    if (bits != 0) return LowBits(value, to, bits);
    if (to != DType::kBool) return CastTo(to, value);
    return Binary(Op::kNe, value, Literal(value.dtype(), 0));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Add", 6, 2, 2, InferArithmetic, ImportBinary<Join<Op::kAdd>>},
    {"Sub", 6, 2, 2, InferArithmetic, ImportBinary<Join<Op::kSub>>},
    {"Mul", 6, 2, 2, InferArithmetic, ImportBinary<Join<Op::kMul>>},
    {"Div", 6, 2, 2, InferArithmetic, ImportBinary<Join<Op::kDiv>>},
    {"Mod", 10, 2, 2, InferMod, ImportMod},
    {"Pow", 7, 2, 2, InferPow, ImportBinary<Pow>},
    {"Equal", 7, 2, 2, InferEqual, ImportBinary<Join<Op::kEq>>},
    {"Less", 7, 2, 2, InferCompare, ImportBinary<Join<Op::kLt>>},
    {"LessOrEqual", 12, 2, 2, InferCompare, ImportBinary<Join<Op::kLe>>},
    {"Greater", 7, 2, 2, InferCompare, ImportBinary<Join<Op::kGt>>},
    {"GreaterOrEqual", 12, 2, 2, InferCompare, ImportBinary<Join<Op::kGe>>},
    {"And", 6, 2, 2, InferLogic, ImportBinary<Join<Op::kAnd>>},
    {"Or", 6, 2, 2, InferLogic, ImportBinary<Join<Op::kOr>>},
    {"Xor", 6, 2, 2, InferLogic, ImportBinary<Join<Op::kXor>>},
    {"Not", 6, 1, 1, InferNot, ImportUnary<Apply<Op::kNot>>},
    {"Max", 6, 1, kAnyNumber, InferArithmetic, ImportVariadic<Op::kMax, false>},
    {"Min", 6, 1, kAnyNumber, InferArithmetic, ImportVariadic<Op::kMin, false>},
    {"Sum", 6, 1, kAnyNumber, InferArithmetic, ImportVariadic<Op::kAdd, false>},
    {"Mean", 6, 1, kAnyNumber, InferFloatArithmetic,
     ImportVariadic<Op::kAdd, true>},
    {"Neg", 6, 1, 1, InferSameNumeric, ImportUnary<Apply<Op::kNeg>>},
    {"Abs", 6, 1, 1, InferSameNumeric, ImportUnary<Apply<Op::kAbs>>},
    {"Sign", 9, 1, 1, InferSameNumeric, ImportUnary<Sign>},
    {"Exp", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kExp>>},
    {"Log", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kLog>>},
    {"Sqrt", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kSqrt>>},
    {"Sin", 7, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kSin>>},
    {"Cos", 7, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kCos>>},
    {"Tan", 7, 1, 1, InferSameFloat, ImportUnary<Tan>},
    {"Erf", 9, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kErf>>},
    {"Floor", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kFloor>>},
    {"Ceil", 6, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kCeil>>},
    {"Round", 11, 1, 1, InferSameFloat, ImportUnary<Apply<Op::kRound>>},
    {"Reciprocal", 6, 1, 1, InferSameFloat, ImportUnary<Reciprocal>},
    {"IsNaN", 9, 1, 1, InferIsNumber, ImportUnary<Apply<Op::kIsNan>>},
    {"IsInf", 10, 1, 1, InferIsNumber, ImportIsInf},
    {"Where", 9, 3, 3, InferWhere, ImportWhere},
    {"Clip", 6, 1, 1, InferClip, ImportClip},
    {"Clip", 11, 1, 3, InferClip, ImportClip},
    {"Cast", 6, 1, 1, InferCast, ImportCast},
    {"CastLike", 15, 2, 2, InferCastLike, ImportCast},
};

}  // namespace

absl::Span<const OpDef> ElementwiseOps() { return kOps; }

}  // namespace tilewright

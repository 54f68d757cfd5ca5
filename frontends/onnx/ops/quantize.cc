// QuantizeLinear and DequantizeLinear, with one scale, one per channel or one
// per block of a dimension, and DynamicQuantizeLinear, whose scale and zero
// point come from its values.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/integer_operands.h"

namespace tilewright {
namespace {

// Which scale an element has: that of its block along `axis`.
struct Scales {
  int axis = -1;           // -1: there is one scale
  int64_t block_size = 0;  // 0: one for each index, and they are a list
};

absl::StatusOr<Scales> ScalesOf(const OpContext& op) {
  Scales scales;
  if (Product(op.shape(1), 0, op.rank(1)) == 1) return scales;
  TW_ASSIGN_OR_RETURN(scales.axis, op.Axis(op.Int("axis", 1), op.rank(0)));
  scales.block_size = op.Int("block_size", 0);
  Shape wanted = op.shape(0);
  if (scales.block_size == 0) {
    wanted = {wanted[scales.axis]};
  } else if (scales.block_size > 0) {
    int64_t& blocks = wanted[scales.axis];
    blocks = scales.block_size < blocks ? CeilDiv(blocks, scales.block_size)
                                        : std::min<int64_t>(blocks, 1);
  }
  if (scales.block_size < 0 || op.shape(1) != wanted) {
    return op.Error("scales of shape ", ShapeText(op.shape(1)),
                    " do not fit dimension ", scales.axis, " of ",
                    ShapeText(op.shape(0)), " in blocks of ",
                    std::max<int64_t>(1, scales.block_size));
  }
  return scales;
}

absl::Status CheckParameters(const OpContext& op) {
  TW_RETURN_IF_ERROR(ScalesOf(op).status());
  TW_RETURN_IF_ERROR(RequireType(op, 1, TypeClass::kFloat));
  const auto one = [&](int i) {
    return Product(op.shape(i), 0, op.rank(i)) == 1;
  };
  if (op.has_input(2) && op.shape(2) != op.shape(1) && !(one(1) && one(2))) {
    return op.Error("scales and zero points have shapes ",
                    ShapeText(op.shape(1)), " and ", ShapeText(op.shape(2)));
  }
  return absl::OkStatus();
}

bool IsQuantized(DType dtype) {
  return Is8Bit(dtype) || dtype == DType::kInt16 || dtype == DType::kUInt16;
}

absl::Status InferQuantize(OpContext& op) {
  TW_RETURN_IF_ERROR(CheckParameters(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  ElementType to{DType::kUInt8};
  const int64_t named = op.Int("output_dtype", 0);
  if (op.has_input(2)) {
    to = {op.dtype(2), op.input(2).narrow_bits};
  } else if (named != 0) {
    const std::optional<ElementType> type = ElementTypeOf(named);
    if (!type.has_value()) return op.Unsupported("output_dtype ", named);
    to = *type;
  }
  if (!IsQuantized(to.dtype))
    return op.Unsupported("type ", DTypeText(to.dtype));
  op.SetOutput(0, to.dtype, op.shape(0), to.narrow_bits);
  return absl::OkStatus();
}

// The scale or zero point of the element at `index`.
Expr Parameter(const ImportContext& in, TensorId id, const Scales& scales,
               absl::Span<const Expr> index) {
  if (scales.axis < 0) {
    const std::vector<Expr> only(in.shape_of(id).size(), Expr::Int(0));
    return in.LoadAligned(id, only, 0);
  }
  if (scales.block_size == 0) return in.LoadAligned(id, index, scales.axis);
  std::vector<Expr> block(index.begin(), index.end());
  block[scales.axis] =
      FloorDiv(block[scales.axis], Expr::Int(scales.block_size));
  return in.At(id, std::move(block));
}

// x / y; by a power of two, the product with its inverse is the same number.
Expr Quotient(const Expr& x, const Expr& y) {
  if (y.op() != Op::kConst) return Binary(Op::kDiv, x, y);
  int exponent = 0;
  const double mantissa = std::frexp(y.float_value(), &exponent);
  if (mantissa != 0.5 || std::abs(exponent) > 100)
    return Binary(Op::kDiv, x, y);
  return Binary(Op::kMul, x, Literal(x.dtype(), 1 / y.float_value()));
}

// Whether input `i` is known to be nothing but 1.
bool IsOne(const OpContext& op, int i) {
  const HostTensor* known = Known(op, i);
  return known != nullptr && known->num_elements() == 1 && known->Get(0).f == 1;
}

// Output 0: the quotients of input 0 and `scale`, rounded, plus `zero` (or -1).
void EmitQuantized(ImportContext& in, TensorId scale, TensorId zero,
                   const Scales& scales) {
  const OpContext& op = in.op();
  const DType to = op.output(0).dtype;
  const DType work = DType::kFloat32;
  TensorId scaled = in.input(0);
  if (!IsOne(op, 1) || op.dtype(0) != work) {
    // A compute of its own: the quotient is rounded to float before it is
    // rounded to an integer, which decides ties.
    scaled = in.Elementwise(
        in.Name(0, "scaled"), work, op.shape(0), "div",
        [&](absl::Span<const Expr> index) {
          return Quotient(CastTo(work, in.Load(in.input(0), index)),
                          CastTo(work, Parameter(in, scale, scales, index)));
        });
  }
  in.EmitElementwise(0, "quantize", [&](absl::Span<const Expr> index) {
    Expr shift;
    if (zero >= 0) shift = CastTo(work, Parameter(in, zero, scales, index));
    return Quantized(in.Load(scaled, index), shift, to,
                     op.output(0).narrow_bits);
  });
}

absl::Status ImportQuantize(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const Scales scales, ScalesOf(op));
  const TensorId scale = in.input(1);
  const TensorId zero = op.has_input(2) ? in.input(2) : -1;
  EmitQuantized(in, scale, zero, scales);
  return absl::OkStatus();
}

absl::Status InferDynamicQuantize(OpContext& op) {
  op.SetOutput(0, DType::kUInt8, op.shape(0));
  op.SetOutput(1, DType::kFloat32, {});
  op.SetOutput(2, DType::kUInt8, {});
  return absl::OkStatus();
}

// The least value, or the greatest, or 0 where that is beyond.
TensorId EmitBound(ImportContext& in, Combiner::Kind kind, Op op,
                   const char* name) {
  const TensorId x = in.input(0);
  const Shape& shape = in.op().shape(0);
  TensorId bound = x;
  if (!shape.empty()) {
    bound = ReduceDims(
        in, in.Name(0, name), DType::kFloat32, shape,
        std::vector<bool>(shape.size(), true), false, kind, "reduce",
        [&](absl::Span<const Expr> index) { return in.Load(x, index); });
  }
  return in.Elementwise(
      in.Name(0, absl::StrCat(name, "_or_0")), DType::kFloat32, {}, name,
      [&](absl::Span<const Expr> index) {
        return Binary(op, in.Load(bound, index), Literal(DType::kFloat32, 0));
      });
}

// From 0 and all values to 0 to 255. Where all are 0 the definition divides by
// 0; the scale is 1 then, as in ONNX Runtime.
absl::Status ImportDynamicQuantize(ImportContext& in) {
  const OpContext& op = in.op();
  const DType work = DType::kFloat32;
  const Expr none = Literal(work, 0);
  const TensorId least = EmitBound(in, Combiner::Kind::kMin, Op::kMin, "min");
  const TensorId most = EmitBound(in, Combiner::Kind::kMax, Op::kMax, "max");
  const TensorId scale = in.Elementwise(
      in.Name(1), work, {}, "scale", [&](absl::Span<const Expr> index) {
        const Expr range =
            Binary(Op::kSub, in.Load(most, index), in.Load(least, index));
        return SelectExpr(Binary(Op::kEq, range, none), Literal(work, 1),
                          Binary(Op::kDiv, range, Literal(work, 255)));
      });
  const TensorId least_scaled = in.Elementwise(
      in.Name(2, "scaled"), work, {}, "div", [&](absl::Span<const Expr> index) {
        return Binary(Op::kDiv, in.Load(least, index), in.Load(scale, index));
      });
  const TensorId zero = in.Elementwise(
      in.Name(2), DType::kUInt8, {}, "quantize",
      [&](absl::Span<const Expr> index) {
        return Quantized(Binary(Op::kSub, none, in.Load(least_scaled, index)),
                         Expr(), DType::kUInt8);
      });
  if (op.has_output(1)) in.SetOutput(1, scale);
  if (op.has_output(2)) in.SetOutput(2, zero);
  if (op.has_output(0)) EmitQuantized(in, scale, zero, Scales());
  return absl::OkStatus();
}

absl::Status InferDequantize(OpContext& op) {
  TW_RETURN_IF_ERROR(CheckParameters(op));
  if (!IsQuantized(op.dtype(0)) && op.dtype(0) != DType::kInt32) {
    return op.Unsupported("type ", DTypeText(op.dtype(0)));
  }
  if (op.has_input(2) && op.dtype(2) != op.dtype(0)) {
    return op.Error("values are ", DTypeText(op.dtype(0)), " but zero points ",
                    DTypeText(op.dtype(2)));
  }
  DType to = op.dtype(1);
  if (const int64_t named = op.Int("output_dtype", 0); named != 0) {
    const std::optional<DType> dtype = FromOnnxType(named);
    if (!dtype.has_value() || !IsFloat(*dtype))
      return op.Unsupported("output_dtype ", named);
    to = *dtype;
  }
  op.SetOutput(0, to, op.shape(0));
  return absl::OkStatus();
}

absl::Status ImportDequantize(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const Scales scales, ScalesOf(op));
  const TensorId x = in.input(0);
  const TensorId scale = in.input(1);
  const TensorId zero = op.has_input(2) ? in.input(2) : -1;
  in.EmitElementwise(
      0, ComputeRole::kDequantize, [&](absl::Span<const Expr> index) {
        Expr value = CastTo(DType::kInt32, in.Load(x, index));
        if (zero >= 0) {
          value =
              Binary(Op::kSub, value,
                     CastTo(DType::kInt32, Parameter(in, zero, scales, index)));
        }
        return Binary(
            Op::kMul, CastTo(DType::kFloat32, value),
            CastTo(DType::kFloat32, Parameter(in, scale, scales, index)));
      });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"QuantizeLinear", 10, 2, 3, InferQuantize, ImportQuantize},
    {"DynamicQuantizeLinear", 11, 1, 1, InferDynamicQuantize,
     ImportDynamicQuantize},
    {"DequantizeLinear", 10, 2, 3, InferDequantize, ImportDequantize},
};

}  // namespace

absl::Span<const OpDef> QuantizeOps() { return kOps; }

}  // namespace tilewright

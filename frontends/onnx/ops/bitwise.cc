// Logic on the bits of integers, and shifts of them.
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

absl::Status InferBitwise(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_ASSIGN_OR_RETURN(Shape shape,
                      BroadcastShapes(op, op.shape(0), op.shape(1)));
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

template <Expr (*F)(const Expr&, const Expr&)>
absl::Status ImportBitwise(ImportContext& in) {
  const TensorId a = in.input(0);
  const TensorId b = in.input(1);
  in.EmitElementwise(0, HintOf(in.op()), [&](absl::Span<const Expr> index) {
    return F(in.Load(a, index), in.Load(b, index));
  });
  return absl::OkStatus();
}

template <Op kOp>
Expr Join(const Expr& a, const Expr& b) {
  return Binary(kOp, a, b);
}

// `a` times (kMul) or divided by (kDiv) two to the power of `b`, whose bits
// each shift by a constant. Shifted by its width or more, nothing is left.
template <Op kOp>
Expr Shift(const Expr& a, const Expr& b) {
  const DType t = a.dtype();
  const int width = SizeBytes(t) * 8;
  Expr result = a;
  for (int by = 1; by < width; by *= 2) {
    const Expr bit = Binary(Op::kAnd, b, Literal(t, by));
    const Expr factor = Literal(t, static_cast<double>(uint64_t{1} << by));
    result = SelectExpr(Binary(Op::kNe, bit, Literal(t, 0)),
                        Binary(kOp, result, factor), result);
  }
  return SelectExpr(Binary(Op::kLt, b, Literal(t, width)), result,
                    Literal(t, 0));
}

absl::Status ImportShift(ImportContext& in) {
  return in.op().String("direction", "") == "LEFT"
             ? ImportBitwise<Shift<Op::kMul>>(in)
             : ImportBitwise<Shift<Op::kDiv>>(in);
}

constexpr OpDef kOps[] = {
    {"BitShift", 11, 2, 2, InferBitwise, ImportShift},
    {"BitwiseAnd", 18, 2, 2, InferBitwise, ImportBitwise<Join<Op::kAnd>>},
    {"BitwiseOr", 18, 2, 2, InferBitwise, ImportBitwise<Join<Op::kOr>>},
    {"BitwiseXor", 18, 2, 2, InferBitwise, ImportBitwise<Join<Op::kXor>>},
    {"BitwiseNot", 18, 1, 1, InferSame, ImportUnary<Apply<Op::kNot>>},
};

}  // namespace

absl::Span<const OpDef> BitwiseOps() { return kOps; }

}  // namespace tilewright

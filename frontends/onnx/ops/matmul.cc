// Gemm and MatMul: one contraction each, then, as computes of their own, the
// scaling and the bias.
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/matmul_shape.h"

namespace tilewright {
namespace {

absl::Status InferGemm(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  const Shape& a = op.shape(0);
  const Shape& b = op.shape(1);
  if (a.size() != 2 || b.size() != 2) {
    return op.Error("shapes ", ShapeText(a), " and ", ShapeText(b),
                    " must have two dimensions each");
  }
  const bool trans_a = op.Int("transA", 0) != 0;
  const bool trans_b = op.Int("transB", 0) != 0;
  if (a[trans_a ? 0 : 1] != b[trans_b ? 1 : 0]) {
    return op.Error("shapes ", ShapeText(a), trans_a ? " (transposed)" : "",
                    " and ", ShapeText(b), trans_b ? " (transposed)" : "",
                    " do not multiply; fix the model");
  }
  Shape shape = {a[trans_a ? 1 : 0], b[trans_b ? 0 : 1]};
  if (op.has_input(2)) {
    TW_ASSIGN_OR_RETURN(const Shape sum,
                        BroadcastShapes(op, shape, op.shape(2)));
    if (sum != shape) {
      return op.Error("bias of shape ", ShapeText(op.shape(2)),
                      " does not broadcast to ", ShapeText(shape));
    }
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportGemm(ImportContext& in) {
  const OpContext& op = in.op();
  const TensorId a = in.input(0);
  const TensorId b = in.input(1);
  const bool trans_a = op.Int("transA", 0) != 0;
  const bool trans_b = op.Int("transB", 0) != 0;
  const double alpha = op.Float("alpha", 1);
  const double beta = op.Float("beta", 1);
  const bool has_bias = op.has_input(2) && beta != 0;
  const bool has_epilogue = has_bias || alpha != 1;
  const Shape& shape = op.output(0).shape;
  const DType t = op.dtype(0);
  const DType acc = Combiner::DefaultAccumulator(t);
  const TensorId product = in.Reduction(
      in.Name(0, has_epilogue ? "matmul" : ""), has_epilogue ? acc : t,
      {{"m", shape[0]}, {"n", shape[1]}}, {{"k", op.shape(0)[trans_a ? 0 : 1]}},
      Combiner::Kind::kSum, "matmul",
      [&](absl::Span<const Expr> index, absl::Span<const Expr> reduced) {
        const Expr& m = index[0];
        const Expr& n = index[1];
        const Expr& k = reduced[0];
        const Expr left = in.At(
            a, trans_a ? std::vector<Expr>{k, m} : std::vector<Expr>{m, k});
        const Expr right = in.At(
            b, trans_b ? std::vector<Expr>{n, k} : std::vector<Expr>{k, n});
        return Binary(Op::kMul, CastTo(acc, left), CastTo(acc, right));
      });
  if (!has_epilogue) {
    in.SetOutput(0, product);
    return absl::OkStatus();
  }
  const TensorId bias = has_bias ? in.input(2) : -1;
  in.EmitElementwise(0, has_bias ? "bias" : "scale",
                     [&](absl::Span<const Expr> index) {
                       Expr value = in.Load(product, index);
                       if (alpha != 1)
                         value = Binary(Op::kMul, value, Literal(acc, alpha));
                       if (!has_bias) return value;
                       Expr added = CastTo(acc, in.Load(bias, index));
                       if (beta != 1)
                         added = Binary(Op::kMul, added, Literal(acc, beta));
                       return Binary(Op::kAdd, value, added);
                     });
  return absl::OkStatus();
}

absl::Status InferMatMul(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(const MatMulShape s, ReadMatMul(op, 0, 1));
  op.SetOutput(0, op.dtype(0), s.Output());
  return absl::OkStatus();
}

absl::Status ImportMatMul(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const MatMulShape s, ReadMatMul(op, 0, 1));
  const TensorId a = in.input(0);
  const TensorId b = in.input(1);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId product = in.Reduction(
      in.Name(), op.dtype(0), s.Axes(), {{"k", s.k}}, Combiner::Kind::kSum,
      "matmul",
      [&](absl::Span<const Expr> index, absl::Span<const Expr> reduced) {
        const Expr& k = reduced[0];
        return Binary(Op::kMul,
                      CastTo(acc, in.At(a, s.Left(op.shape(0), index, k))),
                      CastTo(acc, in.At(b, s.Right(op.shape(1), index, k))));
      });
  in.SetOutput(0, product);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Gemm", 6, 3, 3, InferGemm, ImportGemm},
    {"Gemm", 11, 2, 3, InferGemm, ImportGemm},
    {"MatMul", 6, 2, 2, InferMatMul, ImportMatMul},
};

}  // namespace

absl::Span<const OpDef> MatMulOps() { return kOps; }

}  // namespace tilewright

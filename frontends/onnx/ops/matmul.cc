// Gemm and MatMul: one contraction each, then, as computes of their own, the
// scaling and the bias.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/tensor_proto.h"

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

// numpy's matmul: one-dimensional operands are a row and a column.
struct MatMulShape {
  Shape batch;
  int64_t m = 1, n = 1, k = 1;
  bool has_m = false, has_n = false;

  Shape Output() const {
    Shape shape = batch;
    if (has_m) shape.push_back(m);
    if (has_n) shape.push_back(n);
    return shape;
  }
};

absl::StatusOr<MatMulShape> ReadMatMul(const OpContext& op) {
  const Shape& a = op.shape(0);
  const Shape& b = op.shape(1);
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_RETURN_IF_ERROR(RequireRank(op, 1, 1));
  MatMulShape s;
  s.has_m = a.size() > 1;
  s.has_n = b.size() > 1;
  s.k = a.back();
  if (s.k != b[s.has_n ? b.size() - 2 : 0]) {
    return op.Error("shapes ", ShapeText(a), " and ", ShapeText(b),
                    " do not multiply; fix the model");
  }
  if (s.has_m) s.m = a[a.size() - 2];
  if (s.has_n) s.n = b.back();
  TW_ASSIGN_OR_RETURN(
      s.batch,
      BroadcastShapes(op, Shape(a.begin(), a.end() - (s.has_m ? 2 : 1)),
                      Shape(b.begin(), b.end() - (s.has_n ? 2 : 1))));
  return s;
}

absl::Status InferMatMul(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(const MatMulShape s, ReadMatMul(op));
  op.SetOutput(0, op.dtype(0), s.Output());
  return absl::OkStatus();
}

absl::Status ImportMatMul(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const MatMulShape s, ReadMatMul(op));
  const TensorId a = in.input(0);
  const TensorId b = in.input(1);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const int batch = static_cast<int>(s.batch.size());
  std::vector<NamedAxis> axes;
  for (int d = 0; d < batch; ++d) {
    axes.push_back({absl::StrCat("b", d), s.batch[d]});
  }
  if (s.has_m) axes.push_back({"m", s.m});
  if (s.has_n) axes.push_back({"n", s.n});
  const TensorId product = in.Reduction(
      in.Name(), op.dtype(0), axes, {{"k", s.k}}, Combiner::Kind::kSum,
      "matmul",
      [&](absl::Span<const Expr> index, absl::Span<const Expr> reduced) {
        // The batch part of an operand's index, aligned to the last ones.
        const auto operand = [&](const Shape& shape, int inner) {
          std::vector<Expr> at;
          const int own = static_cast<int>(shape.size()) - inner;
          for (int d = 0; d < own; ++d) {
            const int from = batch - own + d;
            at.push_back(shape[d] == 1 && s.batch[from] != 1 ? Expr::Int(0)
                                                             : index[from]);
          }
          return at;
        };
        std::vector<Expr> left = operand(op.shape(0), s.has_m ? 2 : 1);
        if (s.has_m) left.push_back(index[batch]);
        left.push_back(reduced[0]);
        std::vector<Expr> right = operand(op.shape(1), s.has_n ? 2 : 1);
        right.push_back(reduced[0]);
        if (s.has_n) right.push_back(index.back());
        return Binary(Op::kMul, CastTo(acc, in.At(a, std::move(left))),
                      CastTo(acc, in.At(b, std::move(right))));
      });
  in.SetOutput(0, product);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Gemm", 6, 2, 3, InferGemm, ImportGemm},
    {"MatMul", 6, 2, 2, InferMatMul, ImportMatMul},
};

}  // namespace

absl::Span<const OpDef> MatMulOps() { return kOps; }

}  // namespace tilewright

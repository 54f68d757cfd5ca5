#include "frontends/onnx/ops/softmax.h"

#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "tilegraph/expr/normal_exp.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Before opset 13 all dimensions from `axis` on, since then `axis` alone.
absl::StatusOr<std::vector<bool>> SoftmaxDims(const OpContext& op) {
  const bool old = op.opset() < 13;
  TW_ASSIGN_OR_RETURN(const int axis,
                      op.Axis(op.Int("axis", old ? 1 : -1), op.rank(0)));
  std::vector<bool> reduced(op.rank(0), false);
  for (int d = axis; d < (old ? op.rank(0) : axis + 1); ++d) reduced[d] = true;
  return reduced;
}

absl::Status InferSoftmax(OpContext& op) {
  TW_RETURN_IF_ERROR(SoftmaxDims(op));
  return InferSameFloat(op);
}

Expr Shifted(const ImportContext& in, TensorId x, TensorId max, DType acc,
             Index index) {
  return Binary(Op::kSub, CastTo(acc, in.Load(x, index)), in.Load(max, index));
}

// Of rows: their maximum, exp(x - max), and the sum of those, which is at least
// 1, as its logarithm or reciprocal: one function or division per row.
struct RowParts {
  TensorId max, exp, scale;
};

RowParts EmitRowParts(ImportContext& in, TensorId x,
                      const std::vector<bool>& reduced, DType acc, bool log) {
  const Shape shape = in.shape_of(x);
  RowParts parts;
  parts.max = ReduceDims(in, in.Name(0, "max"), acc, shape, reduced, true,
                         Combiner::Kind::kMax, "reduce",
                         [&](Index index) { return in.Load(x, index); });
  parts.exp =
      in.Elementwise(in.Name(0, "exp"), acc, shape, "exp", [&](Index index) {
        return NormalExp(Shifted(in, x, parts.max, acc, index));
      });
  const TensorId sum =
      ReduceDims(in, in.Name(0, "sum"), acc, shape, reduced, true,
                 Combiner::Kind::kSum, "reduce", [&](Index index) {
                   return in.At(parts.exp, {index.begin(), index.end()});
                 });
  Shape kept = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) kept[d] = 1;
  }
  parts.scale =
      in.Elementwise(in.Name(0, "scale"), acc, kept, "scale", [&](Index index) {
        const Expr value = in.Load(sum, index);
        return log ? Unary(Op::kLog, value)
                   : Binary(Op::kDiv, Literal(acc, 1), value);
      });
  return parts;
}

absl::Status ImportSoftmax(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, SoftmaxDims(op));
  in.SetOutput(0, EmitSoftmax(in, in.Name(), op.dtype(0), in.input(0), reduced,
                              Combiner::DefaultAccumulator(op.dtype(0))));
  return absl::OkStatus();
}

absl::Status ImportLogSoftmax(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, SoftmaxDims(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  const RowParts parts = EmitRowParts(in, x, reduced, acc, true);
  in.EmitElementwise(0, "softmax", [&](Index index) {
    return Binary(Op::kSub, Shifted(in, x, parts.max, acc, index),
                  in.Load(parts.scale, index));
  });
  return absl::OkStatus();
}

// 1 at the first greatest element, 0 elsewhere.
absl::Status ImportHardmax(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, SoftmaxDims(op));
  const Shape& shape = op.shape(0);
  const TensorId x = in.input(0);
  // The position among the reduced dimensions, row-major.
  const auto position = [&](Index index) {
    Expr result = Expr::Int(0);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced[d]) result = result * Expr::Int(shape[d]) + index[d];
    }
    return result;
  };
  const TensorId max =
      ReduceDims(in, in.Name(0, "max"), op.dtype(0), shape, reduced, true,
                 Combiner::Kind::kMax, "reduce",
                 [&](Index index) { return in.Load(x, index); });
  const TensorId first =
      ReduceDims(in, in.Name(0, "first"), DType::kInt64, shape, reduced, true,
                 Combiner::Kind::kMin, "reduce", [&](Index index) {
                   return SelectExpr(
                       Binary(Op::kEq, in.Load(x, index), in.Load(max, index)),
                       position(index), Highest(DType::kInt64));
                 });
  in.EmitElementwise(0, "hardmax", [&](Index index) {
    return CastTo(op.dtype(0),
                  Binary(Op::kEq, position(index), in.Load(first, index)));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Softmax", 6, 1, 1, InferSoftmax, ImportSoftmax},
    {"LogSoftmax", 6, 1, 1, InferSoftmax, ImportLogSoftmax},
    {"Hardmax", 6, 1, 1, InferSoftmax, ImportHardmax},
};

}  // namespace

TensorId EmitSoftmax(ImportContext& in, std::string name, DType dtype,
                     TensorId x, const std::vector<bool>& reduced, DType acc) {
  const RowParts parts = EmitRowParts(in, x, reduced, acc, false);
  return in.Elementwise(
      std::move(name), dtype, in.shape_of(x), "softmax", [&](Index index) {
        return Mul(in.Load(parts.exp, index), in.Load(parts.scale, index));
      });
}

absl::Span<const OpDef> SoftmaxOps() { return kOps; }

}  // namespace tilewright

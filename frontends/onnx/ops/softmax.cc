// Softmax, LogSoftmax and Hardmax. Before opset 13 they run over all dimensions
// from `axis` on, since then over `axis` alone.
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

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

template <bool kLog>
absl::Status ImportSoftmax(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, SoftmaxDims(op));
  const Shape& shape = op.shape(0);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  const TensorId max = ReduceDims(
      in, in.Name(0, "max"), acc, shape, reduced, true, Combiner::Kind::kMax,
      "reduce",
      [&](absl::Span<const Expr> index) { return in.Load(x, index); });
  const auto shifted = [&](absl::Span<const Expr> index) {
    return Binary(Op::kSub, CastTo(acc, in.Load(x, index)),
                  in.Load(max, index));
  };
  const TensorId exp = in.Elementwise(in.Name(0, "exp"), acc, shape, "exp",
                                      [&](absl::Span<const Expr> index) {
                                        return Unary(Op::kExp, shifted(index));
                                      });
  const TensorId sum = ReduceDims(
      in, in.Name(0, "sum"), acc, shape, reduced, true, Combiner::Kind::kSum,
      "reduce", [&](absl::Span<const Expr> index) {
        return in.At(exp, {index.begin(), index.end()});
      });
  // One function or division per row: of the sum, which is at least 1.
  Shape kept = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) kept[d] = 1;
  }
  const TensorId scale =
      in.Elementwise(in.Name(0, "scale"), acc, kept, "scale",
                     [&](absl::Span<const Expr> index) {
                       const Expr value = in.Load(sum, index);
                       return kLog ? Unary(Op::kLog, value)
                                   : Binary(Op::kDiv, Literal(acc, 1), value);
                     });
  in.EmitElementwise(0, "softmax", [&](absl::Span<const Expr> index) {
    return kLog ? Binary(Op::kSub, shifted(index), in.Load(scale, index))
                : Binary(Op::kMul, in.Load(exp, index), in.Load(scale, index));
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
  const auto position = [&](absl::Span<const Expr> index) {
    Expr result = Expr::Int(0);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced[d]) result = result * Expr::Int(shape[d]) + index[d];
    }
    return result;
  };
  const TensorId max = ReduceDims(
      in, in.Name(0, "max"), op.dtype(0), shape, reduced, true,
      Combiner::Kind::kMax, "reduce",
      [&](absl::Span<const Expr> index) { return in.Load(x, index); });
  const TensorId first = ReduceDims(
      in, in.Name(0, "first"), DType::kInt64, shape, reduced, true,
      Combiner::Kind::kMin, "reduce", [&](absl::Span<const Expr> index) {
        return SelectExpr(
            Binary(Op::kEq, in.Load(x, index), in.Load(max, index)),
            position(index), Highest(DType::kInt64));
      });
  in.EmitElementwise(0, "hardmax", [&](absl::Span<const Expr> index) {
    return CastTo(op.dtype(0),
                  Binary(Op::kEq, position(index), in.Load(first, index)));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Softmax", 6, 1, 1, InferSoftmax, ImportSoftmax<false>},
    {"LogSoftmax", 6, 1, 1, InferSoftmax, ImportSoftmax<true>},
    {"Hardmax", 6, 1, 1, InferSoftmax, ImportHardmax},
};

}  // namespace

absl::Span<const OpDef> SoftmaxOps() { return kOps; }

}  // namespace tilewright

// Each sequence of a batch reversed up to its own length.
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

absl::Status InferReverseSequence(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  const int64_t batch_axis = op.Int("batch_axis", 1);
  if (batch_axis == op.Int("time_axis", 0)) {
    return op.Error("attributes 'batch_axis' and 'time_axis' are both ",
                    batch_axis);
  }
  const Shape wanted = {op.shape(0)[batch_axis]};
  if (op.shape(1) != wanted) {
    return op.Error("sequence_lens has shape ", ShapeText(op.shape(1)),
                    " where ", ShapeText(wanted), " is needed");
  }
  return InferSame(op);
}

// What is behind a sequence's end stays where it is.
absl::Status ImportReverseSequence(ImportContext& in) {
  const OpContext& op = in.op();
  const int64_t batch_axis = op.Int("batch_axis", 1);
  const int64_t time_axis = op.Int("time_axis", 0);
  const TensorId x = in.input(0);
  const TensorId lengths = in.input(1);
  const Expr last = Expr::Int(op.shape(0)[time_axis] - 1);
  in.EmitElementwise(0, "reverse_sequence", [&](absl::Span<const Expr> index) {
    const Expr t = index[time_axis];
    const Expr length =
        CastTo(DType::kInt64, in.At(lengths, {index[batch_axis]}));
    // Lengths are data: whatever they are, nothing outside is read.
    const Expr mirrored =
        Binary(Op::kMin,
               Binary(Op::kMax, length - Expr::Int(1) - t, Expr::Int(0)), last);
    std::vector<Expr> at(index.begin(), index.end());
    at[time_axis] = SelectExpr(Binary(Op::kLt, t, length), mirrored, t);
    return in.At(x, std::move(at));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"ReverseSequence", 10, 2, 2, InferReverseSequence, ImportReverseSequence},
};

}  // namespace

absl::Span<const OpDef> ReverseSequenceOps() { return kOps; }

}  // namespace tilewright

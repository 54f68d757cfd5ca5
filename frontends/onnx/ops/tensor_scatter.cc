// TensorScatter: a cache of keys or values in which each sequence of a batch
// gets what is new from its own position on. An element of the result asks
// which new one it is, if any.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

absl::StatusOr<int> SequenceAxis(const OpContext& op) {
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", -2), op.rank(0)));
  if (axis == 0) return op.Error("attribute 'axis' is that of the batch");
  return axis;
}

absl::Status InferTensorScatter(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  TW_ASSIGN_OR_RETURN(const int axis, SequenceAxis(op));
  const Shape& cache = op.shape(0);
  const Shape& update = op.shape(1);
  bool fits = update.size() == cache.size() && op.dtype(1) == op.dtype(0);
  for (size_t d = 0; fits && d < cache.size(); ++d) {
    fits = static_cast<int>(d) == axis ? update[d] >= 1 && update[d] <= cache[d]
                                       : update[d] == cache[d];
  }
  if (!fits) {
    return op.Error("update ", DTypeText(op.dtype(1)), " ", ShapeText(update),
                    " does not fit into cache ", DTypeText(op.dtype(0)), " ",
                    ShapeText(cache), " along dimension ", axis);
  }
  if (op.has_input(2) && op.shape(2) != Shape{cache[0]}) {
    return op.Error("write_indices of shape ", ShapeText(op.shape(2)),
                    " are not one for each of ", cache[0], " sequences");
  }
  return InferSame(op);
}

absl::Status ImportTensorScatter(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, SequenceAxis(op));
  const Expr length = Expr::Int(op.shape(0)[axis]);
  const Expr count = Expr::Int(op.shape(1)[axis]);
  const bool is_circular = op.String("mode", "linear") == "circular";
  const TensorId cache = in.input(0);
  const TensorId update = in.input(1);
  const TensorId first = op.has_input(2) ? in.input(2) : -1;
  in.EmitElementwise(0, "scatter", [&](absl::Span<const Expr> index) {
    const std::vector<Expr> here(index.begin(), index.end());
    Expr number = index[axis];
    if (first >= 0) number = number - in.At(first, {index[0]});
    if (is_circular) number = FloorMod(number, length);
    const Expr is_new = AndAll(Binary(Op::kGe, number, Expr::Int(0)),
                               Binary(Op::kLt, number, count));
    std::vector<Expr> there = here;
    there[axis] = Binary(Op::kMin, Binary(Op::kMax, number, Expr::Int(0)),
                         count - Expr::Int(1));
    return SelectExpr(is_new, in.At(update, std::move(there)),
                      in.At(cache, here));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"TensorScatter", 24, 2, 3, InferTensorScatter, ImportTensorScatter},
};

}  // namespace

absl::Span<const OpDef> TensorScatterOps() { return kOps; }

}  // namespace tilewright

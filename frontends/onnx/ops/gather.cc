// Elements at positions that are data.
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

absl::Status RequireIndices(const OpContext& op) {
  if (op.dtype(1) == DType::kInt64 || op.dtype(1) == DType::kInt32) {
    return absl::OkStatus();
  }
  return op.Error("indices are ", DTypeText(op.dtype(1)),
                  " where i32 or i64 is needed");
}

absl::Status InferGather(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  Shape shape = op.shape(0);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, op.shape(1).begin(), op.shape(1).end());
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Positions that are known and lie evenly: steps from the first, by dimension
// of the indices.
struct EvenPositions {
  int64_t first = 0;
  std::vector<int64_t> steps;

  Expr At(Index index) const {
    Expr position = Expr::Int(first);
    for (size_t d = 0; d < steps.size(); ++d)
      position = position + index[d] * Expr::Int(steps[d]);
    return position;
  }
};

// Windows of a signal, say, or its samples in reverse. nullopt if the indices,
// input 1, are other ones or known at run time only; `extent`: of what they
// count.
std::optional<EvenPositions> AsEvenPositions(const OpContext& op,
                                             int64_t extent) {
  const absl::StatusOr<std::vector<int64_t>> indices = op.ConstInts(1);
  if (!indices.ok() || indices->empty()) return std::nullopt;
  std::vector<int64_t> positions;
  for (const int64_t index : *indices) {
    positions.push_back(index < 0 ? index + extent : index);
    if (positions.back() < 0 || positions.back() >= extent) return std::nullopt;
  }
  const Shape& shape = op.shape(1);
  EvenPositions even{positions[0], std::vector<int64_t>(shape.size())};
  int64_t stride = 1;  // to the next along a dimension
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    even.steps[d] = shape[d] > 1 ? positions[stride] - positions[0] : 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    int64_t expected = even.first;
    int64_t rest = static_cast<int64_t>(i);
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      expected += rest % shape[d] * even.steps[d];
    if (positions[i] != expected) return std::nullopt;
  }
  return even;
}

absl::Status ImportGather(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  const int64_t extent = op.shape(0)[axis];
  const std::optional<EvenPositions> even = AsEvenPositions(op, extent);
  const TensorId x = in.input(0);
  const TensorId indices = even ? TensorId{} : in.input(1);
  const int inner = op.rank(1);
  in.EmitElementwise(0, "gather", [&](Index index) {
    std::vector<Expr> at(index.begin(), index.begin() + axis);
    const Index of_indices = index.subspan(axis, inner);
    at.push_back(even ? even->At(of_indices)
                      : PositionFromData(in.Load(indices, of_indices), extent));
    at.insert(at.end(), index.begin() + axis + inner, index.end());
    return in.At(x, std::move(at));
  });
  return absl::OkStatus();
}

absl::Status InferGatherElements(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  bool fits = op.rank(0) == op.rank(1);
  for (int d = 0; fits && d < op.rank(0); ++d) {
    fits = d == axis || op.shape(1)[d] <= op.shape(0)[d];
  }
  if (!fits) {
    return op.Error("indices of shape ", ShapeText(op.shape(1)),
                    " do not fit data of shape ", ShapeText(op.shape(0)));
  }
  op.SetOutput(0, op.dtype(0), op.shape(1));
  return absl::OkStatus();
}

absl::Status ImportGatherElements(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  const TensorId indices = in.input(1);
  return EmitMove(in, false, [&](Index index) {
    std::vector<Expr> at(index.begin(), index.end());
    at[axis] = PositionFromData(in.Load(indices, index), op.shape(0)[axis]);
    return at;
  });
}

struct GatherNdSpec {
  int64_t batch = 0;
  int64_t depth = 0;  // positions in an index
};

absl::StatusOr<GatherNdSpec> ReadGatherNd(const OpContext& op) {
  GatherNdSpec spec;
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_RETURN_IF_ERROR(RequireRank(op, 1, 1));
  spec.batch = op.Int("batch_dims", 0);
  spec.depth = op.shape(1).back();
  bool fits = spec.batch >= 0 && spec.batch < op.rank(1) && spec.depth >= 1 &&
              spec.batch + spec.depth <= op.rank(0);
  for (int64_t d = 0; fits && d < spec.batch; ++d) {
    fits = op.shape(0)[d] == op.shape(1)[d];
  }
  if (!fits) {
    return op.Error("indices of shape ", ShapeText(op.shape(1)),
                    " do not fit data of shape ", ShapeText(op.shape(0)));
  }
  return spec;
}

absl::Status InferGatherNd(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireIndices(op));
  TW_ASSIGN_OR_RETURN(const GatherNdSpec spec, ReadGatherNd(op));
  Shape shape(op.shape(1).begin(), op.shape(1).end() - 1);
  shape.insert(shape.end(), op.shape(0).begin() + spec.batch + spec.depth,
               op.shape(0).end());
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportGatherNd(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const GatherNdSpec spec, ReadGatherNd(op));
  const TensorId indices = in.input(1);
  const size_t outer = op.rank(1) - 1;
  return EmitMove(in, false, [&](Index index) {
    std::vector<Expr> at(index.begin(), index.begin() + spec.batch);
    std::vector<Expr> from(index.begin(), index.begin() + outer);
    from.emplace_back();
    for (int64_t k = 0; k < spec.depth; ++k) {
      from.back() = Expr::Int(k);
      at.push_back(PositionFromData(in.Load(indices, from),
                                    op.shape(0)[spec.batch + k]));
    }
    at.insert(at.end(), index.begin() + outer, index.end());
    return at;
  });
}

// Negative positions count from the end; those out of range give "off".
absl::Status InferOneHot(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  const auto& depth = op.input(1).constant;
  if (depth == nullptr) return op.NotConstant(1);
  if (depth->num_elements() != 1 || op.shape(2) != Shape{2}) {
    return op.Error("depth and values have shapes ", ShapeText(op.shape(1)),
                    " and ", ShapeText(op.shape(2)),
                    " where one and two elements are needed");
  }
  const double extent = IsFloat(depth->dtype())
                            ? depth->Get(0).f
                            : static_cast<double>(depth->Get(0).i);
  if (!(extent >= 1 && extent <= 1e9)) {
    return op.Error("depth ", extent, " is out of range");
  }
  const int rank = op.rank(0) + 1;
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", -1), rank));
  Shape shape = op.shape(0);
  shape.insert(shape.begin() + axis, static_cast<int64_t>(extent));
  op.SetOutput(0, op.dtype(2), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportOneHot(ImportContext& in) {
  const OpContext& op = in.op();
  const int rank = op.rank(0) + 1;
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", -1), rank));
  const Expr depth = Expr::Int(op.output(0).shape[axis]);
  const TensorId indices = in.input(0);
  const TensorId values = in.input(2);
  in.EmitElementwise(0, "onehot", [&](Index index) {
    std::vector<Expr> at(index.begin(), index.end());
    at.erase(at.begin() + axis);
    const Expr raw = CastTo(DType::kInt64, in.At(indices, std::move(at)));
    const Expr position =
        SelectExpr(Binary(Op::kLt, raw, Expr::Int(0)), raw + depth, raw);
    return SelectExpr(Binary(Op::kEq, position, index[axis]),
                      in.At(values, {Expr::Int(1)}),
                      in.At(values, {Expr::Int(0)}));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Gather", 6, 2, 2, InferGather, ImportGather},
    {"GatherElements", 11, 2, 2, InferGatherElements, ImportGatherElements},
    {"OneHot", 9, 3, 3, InferOneHot, ImportOneHot},
    {"GatherND", 11, 2, 2, InferGatherNd, ImportGatherNd},
};

}  // namespace

absl::Span<const OpDef> GatherOps() { return kOps; }

}  // namespace tilewright

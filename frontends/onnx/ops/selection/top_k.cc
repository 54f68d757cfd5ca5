// The first elements of each row in their order. Without sorting in the
// language: an element's rank is how many come before it, and place r has the
// element of rank r. That is n comparisons for each of n elements, all alike,
// and the same answer on every device.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Comparisons of one node, some seconds of a core.
constexpr int64_t kMostComparisons = int64_t{1} << 33;

struct TopKSpec {
  int axis = 0;
  int64_t count = 0;
  bool largest = true;
};

absl::StatusOr<TopKSpec> ReadTopK(const OpContext& op) {
  TopKSpec spec;
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_ASSIGN_OR_RETURN(spec.axis, op.Axis(op.Int("axis", -1), op.rank(0)));
  std::vector<int64_t> counts = {op.Int("k", 0)};
  if (op.opset() >= 10) {
    TW_ASSIGN_OR_RETURN(counts, op.ConstInts(1));
  }
  const int64_t extent = op.shape(0)[spec.axis];
  if (counts.size() != 1 || counts[0] < 0 || counts[0] > extent) {
    return op.Error("k is [", absl::StrJoin(counts, ", "),
                    "] where one number from 0 to ", extent, " is needed");
  }
  spec.count = counts[0];
  spec.largest = op.Int("largest", 1) != 0;
  const int64_t elements = Product(op.shape(0), 0, op.shape(0).size());
  if (extent > 0 && elements > kMostComparisons / extent) {
    return op.Unsupported("rows of ", extent, " in a tensor of ", elements,
                          " elements");
  }
  return spec;
}

absl::Status InferTopK(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const TopKSpec spec, ReadTopK(op));
  Shape shape = op.shape(0);
  shape[spec.axis] = spec.count;
  op.SetOutput(0, op.dtype(0), shape);
  op.SetOutput(1, DType::kInt64, std::move(shape));
  return absl::OkStatus();
}

// Whether `a` comes before `b` whatever their places; NaN is the largest.
Expr Precedes(const Expr& a, const Expr& b, bool largest) {
  if (!IsFloat(a.dtype())) return Binary(largest ? Op::kGt : Op::kLt, a, b);
  const Expr number = largest ? b : a;
  return Binary(Op::kAnd,
                Unary(Op::kNot, Binary(largest ? Op::kLe : Op::kGe, a, b)),
                Binary(Op::kEq, number, number));
}

absl::Status ImportTopK(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const TopKSpec spec, ReadTopK(op));
  if (spec.count == 0) return absl::OkStatus();  // nobody reads what is empty
  const Shape& shape = op.shape(0);
  const int axis = spec.axis;
  const TensorId x = in.input(0);
  const DType compared = Combiner::DefaultAccumulator(op.dtype(0));
  const auto axes = [&](int64_t extent) {
    std::vector<NamedAxis> named;
    for (int d = 0; d < op.rank(0); ++d)
      named.push_back({absl::StrCat("d", d), d == axis ? extent : shape[d]});
    return named;
  };
  const auto with = [axis](Index index, const Expr& at) {
    std::vector<Expr> result(index.begin(), index.end());
    result[axis] = at;
    return result;
  };
  // Equal ones keep their order.
  const TensorId rank = in.Reduction(
      in.Name(0, "rank"), DType::kInt32, axes(shape[axis]),
      {{"other", shape[axis]}}, Combiner::Kind::kSum, "rank",
      [&](Index index, Index other) {
        const Expr mine = CastTo(compared, in.At(x, with(index, index[axis]))),
                   its = CastTo(compared, in.At(x, with(index, other[0])));
        const Expr before =
            SelectExpr(Binary(Op::kLt, other[0], index[axis]),
                       Unary(Op::kNot, Precedes(mine, its, spec.largest)),
                       Precedes(its, mine, spec.largest));
        return SelectExpr(before, Literal(DType::kInt32, 1),
                          Literal(DType::kInt32, 0));
      });
  const TensorId place = in.Reduction(
      op.has_output(1) ? in.Name(1) : in.Name(0, "place"), DType::kInt64,
      axes(spec.count), {{"element", shape[axis]}}, Combiner::Kind::kMax,
      "place", [&](Index index, Index element) {
        return SelectExpr(
            Binary(Op::kEq,
                   CastTo(DType::kInt64, in.At(rank, with(index, element[0]))),
                   index[axis]),
            element[0], Expr::Int(0));
      });
  if (op.has_output(1)) in.SetOutput(1, place);
  if (op.has_output(0)) {
    in.EmitElementwise(0, "top_k", [&](Index index) {
      return in.At(
          x, with(index, PositionFromData(in.Load(place, index), shape[axis])));
    });
  }
  return absl::OkStatus();
}

// How many is an attribute before opset 10, then an input; the least ones from
// opset 11 on.
constexpr OpDef kOps[] = {
    {"TopK", 6, 1, 1, InferTopK, ImportTopK},
    {"TopK", 10, 2, 2, InferTopK, ImportTopK},
};

}  // namespace

absl::Span<const OpDef> SelectionOps() { return kOps; }

}  // namespace tilewright

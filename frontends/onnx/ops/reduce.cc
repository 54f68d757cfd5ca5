// Reductions over chosen dimensions.
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "tilegraph/expr/normal_exp.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// Which dimensions to reduce: an attribute, or an optional second input.
absl::StatusOr<std::vector<bool>> ReducedDims(const OpContext& op) {
  std::vector<int64_t> axes = op.Ints("axes");
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(axes, op.ConstInts(1));
  }
  const bool all = axes.empty() && op.Int("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(op.rank(0), all);
  TW_ASSIGN_OR_RETURN(const std::vector<int> chosen, op.Axes(axes, op.rank(0)));
  for (const int axis : chosen) reduced[axis] = true;
  return reduced;
}

Shape ReducedShape(const Shape& shape, const std::vector<bool>& reduced,
                   bool keep) {
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d]) {
      result.push_back(shape[d]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

absl::Status InferReduce(OpContext& op, TypeClass wanted) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, wanted));
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedDims(op));
  op.SetOutput(0, op.dtype(0),
               ReducedShape(op.shape(0), reduced, op.Int("keepdims", 1) != 0));
  return absl::OkStatus();
}

absl::Status InferNumericReduce(OpContext& op) {
  return InferReduce(op, TypeClass::kNumeric);
}
absl::Status InferFloatReduce(OpContext& op) {
  return InferReduce(op, TypeClass::kFloat);
}
// Max and Min also reduce bool, from opset 20.
absl::Status InferAnyReduce(OpContext& op) {
  return InferReduce(op, TypeClass::kAny);
}

using Step = Expr (*)(const Expr& value);
using Finish = Expr (*)(const Expr& value, int64_t count);

Expr Itself(const Expr& x) { return x; }
Expr Square(const Expr& x) { return Binary(Op::kMul, x, x); }

Expr Mean(const Expr& sum, int64_t count) {
  return Binary(Op::kDiv, sum,
                Literal(sum.dtype(), static_cast<double>(count)));
}
// The root of an integer sum, in double.
Expr Root(const Expr& sum, int64_t) {
  if (IsFloat(sum.dtype())) return Unary(Op::kSqrt, sum);
  return CastTo(sum.dtype(), Unary(Op::kSqrt, CastTo(DType::kFloat64, sum)));
}
Expr LogOf(const Expr& sum, int64_t) { return Unary(Op::kLog, sum); }

// step, then the combiner, then finish (a compute of its own).
absl::Status EmitReduce(ImportContext& in, Combiner::Kind kind, Step step,
                        Finish finish) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedDims(op));
  const Shape& shape = op.shape(0);
  const DType t = op.dtype(0);
  const TensorId x = in.input(0);
  int64_t count = 1;
  bool any = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d]) continue;
    count *= shape[d];
    any = true;
  }
  const Step wide_step = step;
  const auto term = [&](absl::Span<const Expr> index) {
    const Expr value = in.Load(x, index);
    return wide_step(CastTo(Combiner::DefaultAccumulator(t), value));
  };
  if (!any) {
    if (step == Itself && (finish == nullptr || finish == Mean)) {
      in.SetOutput(0, x);
      return absl::OkStatus();
    }
    in.EmitElementwise(0, "reduce", [&](absl::Span<const Expr> index) {
      const Expr value = term(index);
      return finish == nullptr ? value : finish(value, 1);
    });
    return absl::OkStatus();
  }
  const bool keep = op.Int("keepdims", 1) != 0;
  const TensorId sum =
      ReduceDims(in, in.Name(0, finish == nullptr ? "" : "sum"),
                 finish == nullptr ? t : Combiner::DefaultAccumulator(t), shape,
                 reduced, keep, kind, "reduce", term);
  if (finish == nullptr) {
    in.SetOutput(0, sum);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, HintOf(op), [&](absl::Span<const Expr> index) {
    return finish(in.Load(sum, index), count);
  });
  return absl::OkStatus();
}

template <Combiner::Kind kKind, Step kStep, Finish kFinish>
absl::Status Import(ImportContext& in) {
  return EmitReduce(in, kKind, kStep, kFinish);
}

Expr Absolute(const Expr& x) { return Unary(Op::kAbs, x); }

// log(sum(exp(x - max))) + max, where an infinite max is left out.
absl::Status ImportLogSumExp(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedDims(op));
  const Shape& shape = op.shape(0);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  bool any = false;
  for (const bool flag : reduced) any |= flag;
  if (!any) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  const TensorId max = ReduceDims(
      in, in.Name(0, "max"), acc, shape, reduced, true, Combiner::Kind::kMax,
      "reduce",
      [&](absl::Span<const Expr> index) { return in.Load(x, index); });
  const auto shift = [&](absl::Span<const Expr> index) {
    const Expr value = in.Load(max, index);
    const Expr finite =
        Binary(Op::kLt, Unary(Op::kAbs, value), Highest(value.dtype()));
    return SelectExpr(finite, value, Literal(acc, 0));
  };
  const TensorId sum = ReduceDims(
      in, in.Name(0, "sum"), acc, shape, reduced, true, Combiner::Kind::kSum,
      "reduce", [&](absl::Span<const Expr> index) {
        return NormalExp(
            Binary(Op::kSub, CastTo(acc, in.Load(x, index)), shift(index)));
      });
  const bool keep = op.Int("keepdims", 1) != 0;
  in.EmitElementwise(0, "logsumexp", [&](absl::Span<const Expr> index) {
    std::vector<Expr> at;
    size_t next = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced[d] && !keep) {
        at.push_back(Expr::Int(0));
      } else {
        at.push_back(index[next++]);
      }
    }
    return Binary(Op::kAdd, Unary(Op::kLog, in.Load(sum, at)), shift(at));
  });
  return absl::OkStatus();
}

absl::Status InferArg(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  std::vector<bool> reduced(op.rank(0), false);
  reduced[axis] = true;
  op.SetOutput(0, DType::kInt64,
               ReducedShape(op.shape(0), reduced, op.Int("keepdims", 1) != 0));
  return absl::OkStatus();
}

// Whether `value` is the greatest or least, `extreme`: NaN is both.
Expr IsExtreme(const Expr& value, const Expr& extreme) {
  const Expr same = Binary(Op::kEq, value, extreme);
  return IsFloat(value.dtype())
             ? Binary(Op::kOr, same, Unary(Op::kIsNan, value))
             : same;
}

// The first or last place of the extreme, which is found first: two reductions
// of numbers take less than one of values beside their places.
absl::Status ImportArg(ImportContext& in, Combiner::Kind kind) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", 0), op.rank(0)));
  const bool keep = op.Int("keepdims", 1) != 0;
  const bool last = op.Int("select_last_index", 0) != 0;
  const Shape& shape = op.shape(0);
  std::vector<NamedAxis> axes;
  for (int d = 0; d < op.rank(0); ++d) {
    if (d != axis || keep)
      axes.push_back({absl::StrCat("d", d), d == axis ? 1 : shape[d]});
  }
  const NamedAxis terms = {absl::StrCat("r", axis), shape[axis]};
  const auto value = [&](Index index, Index over) {
    std::vector<Expr> at(index.begin(), index.end());
    if (!keep) at.emplace(at.begin() + axis);
    at[axis] = over[0];
    return in.At(in.input(0), std::move(at));
  };
  const TensorId extreme = in.Reduction(in.Name(0, "extreme"), op.dtype(0),
                                        axes, {terms}, kind, "reduce", value);
  const DType place = shape[axis] <= std::numeric_limits<int32_t>::max()
                          ? DType::kInt32
                          : DType::kInt64;
  const TensorId found = in.Reduction(
      in.Name(0, "place"), place, axes, {terms},
      last ? Combiner::Kind::kMax : Combiner::Kind::kMin, "reduce",
      [&](Index index, Index over) {
        return SelectExpr(
            IsExtreme(value(index, over), in.Load(extreme, index)),
            CastTo(place, over[0]), last ? Lowest(place) : Highest(place));
      });
  in.EmitElementwise(0, "cast", [&](absl::Span<const Expr> index) {
    return CastTo(DType::kInt64, in.Load(found, index));
  });
  return absl::OkStatus();
}

absl::Status ImportArgMax(ImportContext& in) {
  return ImportArg(in, Combiner::Kind::kMax);
}
absl::Status ImportArgMin(ImportContext& in) {
  return ImportArg(in, Combiner::Kind::kMin);
}

using Kind = Combiner::Kind;

// Axes are an attribute before opset 18 (ReduceSum: 13), then an input.
constexpr OpDef kOps[] = {
    {"ReduceSum", 6, 1, 1, InferNumericReduce,
     Import<Kind::kSum, Itself, nullptr>},
    {"ReduceSum", 13, 1, 2, InferNumericReduce,
     Import<Kind::kSum, Itself, nullptr>},
    {"ReduceMean", 6, 1, 1, InferNumericReduce,
     Import<Kind::kSum, Itself, Mean>},
    {"ReduceMean", 18, 1, 2, InferNumericReduce,
     Import<Kind::kSum, Itself, Mean>},
    {"ReduceMax", 6, 1, 1, InferAnyReduce, Import<Kind::kMax, Itself, nullptr>},
    {"ReduceMax", 18, 1, 2, InferAnyReduce,
     Import<Kind::kMax, Itself, nullptr>},
    {"ReduceMin", 6, 1, 1, InferAnyReduce, Import<Kind::kMin, Itself, nullptr>},
    {"ReduceMin", 18, 1, 2, InferAnyReduce,
     Import<Kind::kMin, Itself, nullptr>},
    {"ReduceProd", 6, 1, 1, InferNumericReduce,
     Import<Kind::kProd, Itself, nullptr>},
    {"ReduceProd", 18, 1, 2, InferNumericReduce,
     Import<Kind::kProd, Itself, nullptr>},
    {"ReduceL1", 6, 1, 1, InferNumericReduce,
     Import<Kind::kSum, Absolute, nullptr>},
    {"ReduceL1", 18, 1, 2, InferNumericReduce,
     Import<Kind::kSum, Absolute, nullptr>},
    {"ReduceL2", 6, 1, 1, InferNumericReduce, Import<Kind::kSum, Square, Root>},
    {"ReduceL2", 18, 1, 2, InferNumericReduce,
     Import<Kind::kSum, Square, Root>},
    {"ReduceSumSquare", 6, 1, 1, InferNumericReduce,
     Import<Kind::kSum, Square, nullptr>},
    {"ReduceSumSquare", 18, 1, 2, InferNumericReduce,
     Import<Kind::kSum, Square, nullptr>},
    {"ReduceLogSum", 6, 1, 1, InferFloatReduce,
     Import<Kind::kSum, Itself, LogOf>},
    {"ReduceLogSum", 18, 1, 2, InferFloatReduce,
     Import<Kind::kSum, Itself, LogOf>},
    {"ReduceLogSumExp", 6, 1, 1, InferFloatReduce, ImportLogSumExp},
    {"ReduceLogSumExp", 18, 1, 2, InferFloatReduce, ImportLogSumExp},
    {"ArgMax", 6, 1, 1, InferArg, ImportArgMax},
    {"ArgMin", 6, 1, 1, InferArg, ImportArgMin},
};

}  // namespace

absl::Span<const OpDef> ReduceOps() { return kOps; }

}  // namespace tilewright

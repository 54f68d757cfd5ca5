// Normalisations: statistics as reductions, then one elementwise compute.
#include <cmath>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/normalization/moments.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

absl::Status RequireChannels(const OpContext& op, int first, int last) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  for (int i = first; i <= last; ++i) {
    TW_RETURN_IF_ERROR(RequireType(op, i, TypeClass::kFloat));
    if (op.shape(i) != Shape{op.shape(0)[1]}) {
      return op.Error("input ", Quoted(op.value_name(op.node().inputs[i])),
                      " of shape ", ShapeText(op.shape(i)),
                      " does not fit the channels of ", ShapeText(op.shape(0)));
    }
  }
  return absl::OkStatus();
}

absl::Status InferBatchNorm(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireChannels(op, 1, 4));
  bool training = op.Int("training_mode", 0) != 0;
  for (int i = 1; i < op.num_outputs(); ++i) training |= op.has_output(i);
  if (training) return op.Unsupported("training mode");
  return InferSameFloat(op);
}

absl::Status ImportBatchNorm(ImportContext& in) {
  const OpContext& op = in.op();
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const double epsilon = op.Float("epsilon", 1e-5f);
  const TensorId x = in.input(0);
  bool known = true;
  for (int i = 1; i <= 4; ++i) known &= op.input(i).constant != nullptr;
  if (known) {
    // Two channel vectors, in double: y = a * x + b.
    TW_ASSIGN_OR_RETURN(HostTensor a, op.NewTensor(acc, op.shape(1)));
    TW_ASSIGN_OR_RETURN(HostTensor b, op.NewTensor(acc, op.shape(1)));
    for (int64_t c = 0; c < a.num_elements(); ++c) {
      const auto value = [&](int i) { return op.input(i).constant->Get(c).f; };
      const double factor = value(1) / std::sqrt(value(4) + epsilon);
      a.Set(c, Scalar{factor, 0});
      b.Set(c, Scalar{value(2) - value(3) * factor, 0});
    }
    const TensorId factor = in.Constant(in.Name(0, "factor"), std::move(a));
    const TensorId shift = in.Constant(in.Name(0, "shift"), std::move(b));
    in.EmitElementwise(0, "batchnorm", [&](Index index) {
      return Add(
          Mul(CastTo(acc, in.Load(x, index)), in.LoadAligned(factor, index, 1)),
          in.LoadAligned(shift, index, 1));
    });
    return absl::OkStatus();
  }
  TensorId parameter[5];
  for (int i = 1; i <= 4; ++i) parameter[i] = in.input(i);
  in.EmitElementwise(0, "batchnorm", [&](Index index) {
    const auto load = [&](int i) {
      return CastTo(acc, in.LoadAligned(parameter[i], index, 1));
    };
    const Expr deviation =
        Unary(Op::kSqrt, Add(load(4), Literal(acc, epsilon)));
    const Expr centred = Sub(CastTo(acc, in.Load(x, index)), load(3));
    return Add(Mul(Div(centred, deviation), load(1)), load(2));
  });
  return absl::OkStatus();
}

absl::Status InferInstanceNorm(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireChannels(op, 1, 2));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 3));
  return InferSameFloat(op);
}

absl::Status ImportInstanceNorm(ImportContext& in) {
  const OpContext& op = in.op();
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  const TensorId scale = in.input(1);
  const TensorId bias = in.input(2);
  std::vector<bool> reduced(op.rank(0), true);
  reduced[0] = reduced[1] = false;
  const Moments moments = EmitMoments(in, x, op.shape(0), reduced,
                                      {op.Float("epsilon", 1e-5f)}, acc);
  in.EmitElementwise(0, "instancenorm", [&](Index index) {
    const Expr normal =
        Mul(Sub(CastTo(acc, in.Load(x, index)), in.Load(moments.mean, index)),
            in.Load(moments.scale, index));
    return Add(Mul(normal, CastTo(acc, in.LoadAligned(scale, index, 1))),
               CastTo(acc, in.LoadAligned(bias, index, 1)));
  });
  return absl::OkStatus();
}

// Dimensions from `axis` on.
absl::StatusOr<std::vector<bool>> TailDims(const OpContext& op) {
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", -1), op.rank(0)));
  std::vector<bool> reduced(op.rank(0), false);
  for (int d = axis; d < op.rank(0); ++d) reduced[d] = true;
  return reduced;
}

absl::Status InferLayerNorm(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, TailDims(op));
  for (int i = 1; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) continue;
    TW_RETURN_IF_ERROR(RequireType(op, i, TypeClass::kFloat));
    TW_ASSIGN_OR_RETURN(const Shape both,
                        BroadcastShapes(op, op.shape(0), op.shape(i)));
    if (both != op.shape(0)) {
      return op.Error("shape ", ShapeText(op.shape(i)),
                      " does not broadcast to ", ShapeText(op.shape(0)));
    }
  }
  Shape kept = op.shape(0);
  for (int d = 0; d < op.rank(0); ++d) {
    if (reduced[d]) kept[d] = 1;
  }
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  op.SetOutput(1, acc, kept);
  op.SetOutput(2, acc, kept);
  return InferSameFloat(op);
}

absl::Status ImportLayerNorm(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, TailDims(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  const TensorId scale = in.input(1);
  const TensorId bias = op.has_input(2) ? in.input(2) : -1;
  const Moments moments = EmitMoments(in, x, op.shape(0), reduced,
                                      {op.Float("epsilon", 1e-5f)}, acc);
  in.EmitElementwise(0, "layernorm", [&](Index index) {
    const Expr normal =
        Mul(Sub(CastTo(acc, in.Load(x, index)), in.Load(moments.mean, index)),
            in.Load(moments.scale, index));
    const Expr scaled = Mul(normal, CastTo(acc, in.Load(scale, index)));
    return bias < 0 ? scaled : Add(scaled, CastTo(acc, in.Load(bias, index)));
  });
  if (op.has_output(1)) in.SetOutput(1, moments.mean);
  if (op.has_output(2)) in.SetOutput(2, moments.scale);
  return absl::OkStatus();
}

absl::Status ImportRmsNorm(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, TailDims(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const double epsilon = op.Float("epsilon", 1e-5f);
  double count = 1;
  for (int d = 0; d < op.rank(0); ++d) {
    if (reduced[d]) count *= static_cast<double>(op.shape(0)[d]);
  }
  const TensorId x = in.input(0);
  const TensorId scale = in.input(1);
  const TensorId squares =
      ReduceDims(in, in.Name(0, "squares"), acc, op.shape(0), reduced, true,
                 Combiner::Kind::kSum, "reduce", [&](Index index) {
                   const Expr value = CastTo(acc, in.Load(x, index));
                   return Mul(value, value);
                 });
  in.EmitElementwise(0, "rmsnorm", [&](Index index) {
    const Expr mean = Div(in.Load(squares, index), Literal(acc, count));
    const Expr root = Unary(Op::kSqrt, Add(mean, Literal(acc, epsilon)));
    return Mul(Div(CastTo(acc, in.Load(x, index)), root),
               CastTo(acc, in.Load(scale, index)));
  });
  return absl::OkStatus();
}

// Scale and bias are per channel since opset 21, per group before.
absl::Status InferGroupNorm(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 3));
  const int64_t channels = op.shape(0)[1];
  const int64_t groups = op.Int("num_groups", 0);
  if (groups < 1 || channels % groups != 0) {
    return op.Error("the ", channels, " channels of ", ShapeText(op.shape(0)),
                    " do not divide into ", groups, " groups");
  }
  for (int i = 1; i <= 2; ++i) {
    TW_RETURN_IF_ERROR(RequireType(op, i, TypeClass::kFloat));
    if (op.shape(i) != Shape{op.opset() >= 21 ? channels : groups}) {
      return op.Error("scale or bias of shape ", ShapeText(op.shape(i)),
                      " does not fit ", ShapeText(op.shape(0)), " in ", groups,
                      " groups");
    }
  }
  return InferSameFloat(op);
}

absl::Status ImportGroupNorm(ImportContext& in) {
  const OpContext& op = in.op();
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const int64_t groups = op.Int("num_groups", 1);
  const int64_t size = op.shape(0)[1] / groups;
  const TensorId scale = in.input(1);
  const TensorId bias = in.input(2);
  // [n, c, ...] seen as [n, groups, c / groups, ...].
  Shape split = op.shape(0);
  split[1] = groups;
  split.insert(split.begin() + 2, size);
  const TensorId source = in.input(0);
  const TensorId x = EmitReshaped(in, in.Name(0, "groups"), source, split);
  std::vector<bool> reduced(split.size(), true);
  reduced[0] = reduced[1] = false;
  const Moments moments =
      EmitMoments(in, x, split, reduced, {op.Float("epsilon", 1e-5f)}, acc);
  in.EmitElementwise(0, "groupnorm", [&](Index index) {
    const Expr group = FloorDiv(index[1], Expr::Int(size));
    std::vector<Expr> at(split.size(), Expr::Int(0));
    at[0] = index[0];
    at[1] = group;
    const Expr normal =
        Mul(Sub(CastTo(acc, in.Load(source, index)), in.Load(moments.mean, at)),
            in.Load(moments.scale, at));
    const std::vector<Expr> channel = {op.opset() >= 21 ? index[1] : group};
    return Add(Mul(normal, CastTo(acc, in.Load(scale, channel))),
               CastTo(acc, in.Load(bias, channel)));
  });
  return absl::OkStatus();
}

// Axes are an attribute; without any, all dimensions are reduced.
absl::StatusOr<std::vector<bool>> MeanVarianceDims(const OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int> axes,
                      op.Axes(op.Ints("axes", {0, 2, 3}), op.rank(0)));
  std::vector<bool> reduced(op.rank(0), axes.empty());
  for (const int axis : axes) reduced[axis] = true;
  return reduced;
}

absl::Status InferMeanVariance(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 1));
  TW_RETURN_IF_ERROR(MeanVarianceDims(op));
  return InferSameFloat(op);
}

absl::Status ImportMeanVariance(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, MeanVarianceDims(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  // The definition adds its epsilon to the root of the variance.
  const Moments moments =
      EmitMoments(in, x, op.shape(0), reduced, {0, 1e-9}, acc);
  in.EmitElementwise(0, "meanvariancenorm", [&](Index index) {
    return Mul(
        Sub(CastTo(acc, in.Load(x, index)), in.Load(moments.mean, index)),
        in.Load(moments.scale, index));
  });
  return absl::OkStatus();
}

absl::Status InferLrn(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  const int64_t size = op.Int("size", 0);
  if (size < 1 || size > (1 << 20)) {
    return op.Error("attribute 'size' is ", size, "; it must be at least 1");
  }
  return InferSameFloat(op);
}

// x / (bias + alpha / size * (sum of squares of the near channels))^beta.
absl::Status ImportLrn(ImportContext& in) {
  const OpContext& op = in.op();
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const int64_t size = op.Int("size", 1);
  const double alpha = op.Float("alpha", 1e-4f);
  const double beta = op.Float("beta", 0.75f);
  const double bias = op.Float("bias", 1);
  const Shape& shape = op.shape(0);
  const TensorId x = in.input(0);
  const TensorId squares = in.Reduction(
      in.Name(0, "squares"), acc, AxesOf(shape), {{"near", size}},
      Combiner::Kind::kSum, "pool", [&](Index index, Index near) {
        std::vector<Expr> at(index.begin(), index.end());
        at[1] = index[1] + near[0] - Expr::Int((size - 1) / 2);
        const Expr inside = InBounds(at[1], shape[1], true, true);
        const Expr value = CastTo(acc, in.At(x, std::move(at)));
        return SelectExpr(inside, Mul(value, value), Literal(acc, 0));
      });
  in.EmitElementwise(0, "lrn", [&](Index index) {
    const Expr sum = in.At(squares, {index.begin(), index.end()});
    const Expr base =
        Add(Mul(sum, Literal(acc, alpha / static_cast<double>(size))),
            Literal(acc, bias));
    return Div(CastTo(acc, in.Load(x, index)),
               Binary(Op::kPow, base, Literal(acc, beta)));
  });
  return absl::OkStatus();
}

absl::Status InferLpNorm(OpContext& op) {
  TW_RETURN_IF_ERROR(op.Axis(op.Int("axis", -1), op.rank(0)));
  const int64_t p = op.Int("p", 2);
  if (p != 1 && p != 2) {
    return op.Error("attribute 'p' is ", p, "; it must be 1 or 2");
  }
  return InferSameFloat(op);
}

absl::Status ImportLpNorm(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const int axis, op.Axis(op.Int("axis", -1), op.rank(0)));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const bool square = op.Int("p", 2) == 2;
  const TensorId x = in.input(0);
  std::vector<bool> reduced(op.rank(0), false);
  reduced[axis] = true;
  const TensorId sum =
      ReduceDims(in, in.Name(0, "sum"), acc, op.shape(0), reduced, true,
                 Combiner::Kind::kSum, "reduce", [&](Index index) {
                   const Expr value = CastTo(acc, in.Load(x, index));
                   return square ? Mul(value, value) : Unary(Op::kAbs, value);
                 });
  in.EmitElementwise(0, "lpnorm", [&](Index index) {
    const Expr total = in.Load(sum, index);
    const Expr norm = square ? Unary(Op::kSqrt, total) : total;
    // A vector of zeros stays one.
    return SelectExpr(Binary(Op::kEq, norm, Literal(acc, 0)), Literal(acc, 0),
                      Div(CastTo(acc, in.Load(x, index)), norm));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"BatchNormalization", 6, 5, 5, InferBatchNorm, ImportBatchNorm},
    {"InstanceNormalization", 6, 3, 3, InferInstanceNorm, ImportInstanceNorm},
    {"LayerNormalization", 17, 2, 3, InferLayerNorm, ImportLayerNorm},
    {"RMSNormalization", 23, 2, 2, InferLayerNorm, ImportRmsNorm},
    {"GroupNormalization", 18, 3, 3, InferGroupNorm, ImportGroupNorm},
    {"MeanVarianceNormalization", 9, 1, 1, InferMeanVariance,
     ImportMeanVariance},
    {"LRN", 6, 1, 1, InferLrn, ImportLrn},
    {"LpNormalization", 6, 1, 1, InferLpNorm, ImportLpNorm},
};

}  // namespace

absl::Span<const OpDef> NormOps() { return kOps; }

}  // namespace tilewright

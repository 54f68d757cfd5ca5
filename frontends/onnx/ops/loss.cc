// Losses: the score of the labelled class, weighted, then summed or averaged.
#include <string>
#include <vector>

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

// Scores [n, classes, ...], labels [n, ...], optionally weights [classes].
absl::Status InferLoss(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  Shape labels = op.shape(0);
  labels.erase(labels.begin() + 1);
  if (op.shape(1) != labels || !IsInteger(op.dtype(1))) {
    return op.Error("labels are ", DTypeText(op.dtype(1)), " ",
                    ShapeText(op.shape(1)), " where integers of shape ",
                    ShapeText(labels), " are needed");
  }
  if (op.has_input(2) &&
      (op.shape(2) != Shape{op.shape(0)[1]} || op.dtype(2) != op.dtype(0))) {
    return op.Error("weights are ", DTypeText(op.dtype(2)), " ",
                    ShapeText(op.shape(2)), " where one ",
                    DTypeText(op.dtype(0)), " for each of ", op.shape(0)[1],
                    " classes is needed");
  }
  const std::string reduction = op.String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return op.Error("attribute 'reduction' is ", Quoted(reduction),
                    "; it must be none, sum or mean");
  }
  op.SetOutput(0, op.dtype(0), reduction == "none" ? labels : Shape());
  return absl::OkStatus();
}

absl::Status InferCrossEntropy(OpContext& op) {
  TW_RETURN_IF_ERROR(InferLoss(op));
  op.SetOutput(1, op.dtype(0), op.shape(0));
  return absl::OkStatus();
}

// -weight[label] * scores[n, label, ...], 0 where the label is to be ignored.
absl::Status EmitLoss(ImportContext& in, TensorId scores) {
  const OpContext& op = in.op();
  const int64_t classes = op.shape(0)[1];
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const Shape& shape = op.shape(1);
  const TensorId labels = in.input(1);
  const TensorId weights = op.has_input(2) ? in.input(2) : -1;
  const std::string reduction = op.String("reduction", "mean");
  const auto label_at = [&](Index index) {
    return CastTo(DType::kInt64, in.At(labels, {index.begin(), index.end()}));
  };
  const auto inside = [&](const Expr& label) {
    return Binary(Op::kMin, Binary(Op::kMax, label, Expr::Int(0)),
                  Expr::Int(classes - 1));
  };
  const auto unless_ignored = [&](const Expr& label, const Expr& value) {
    if (!op.HasAttribute("ignore_index")) return value;
    return SelectExpr(
        Binary(Op::kEq, label, Expr::Int(op.Int("ignore_index", 0))),
        Literal(acc, 0), value);
  };
  const auto weight_of = [&](const Expr& label) {
    return weights < 0 ? Literal(acc, 1)
                       : CastTo(acc, in.At(weights, {inside(label)}));
  };
  const auto loss = [&](Index index) {
    const Expr label = label_at(index);
    std::vector<Expr> at(index.begin(), index.end());
    at.insert(at.begin() + 1, inside(label));
    const Expr score =
        Unary(Op::kNeg, CastTo(acc, in.At(scores, std::move(at))));
    return unless_ignored(
        label, weights < 0 ? score : Binary(Op::kMul, score, weight_of(label)));
  };
  if (reduction == "none") {
    in.EmitElementwise(0, "loss", loss);
    return absl::OkStatus();
  }
  const std::vector<bool> all(shape.size(), true);
  const bool mean = reduction == "mean";
  const TensorId sum =
      ReduceDims(in, in.Name(0, mean ? "sum" : ""), mean ? acc : op.dtype(0),
                 shape, all, false, Combiner::Kind::kSum, "reduce", loss);
  if (!mean) {
    in.SetOutput(0, sum);
    return absl::OkStatus();
  }
  const TensorId total =
      ReduceDims(in, in.Name(0, "weights"), acc, shape, all, false,
                 Combiner::Kind::kSum, "reduce", [&](Index index) {
                   const Expr label = label_at(index);
                   return unless_ignored(label, weight_of(label));
                 });
  in.EmitElementwise(0, "loss", [&](Index index) {
    return Binary(Op::kDiv, in.Load(sum, index), in.Load(total, index));
  });
  return absl::OkStatus();
}

absl::Status ImportLoss(ImportContext& in) { return EmitLoss(in, in.input(0)); }

absl::Status ImportCrossEntropy(ImportContext& in) {
  const OpContext& op = in.op();
  const Shape& shape = op.shape(0);
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId x = in.input(0);
  std::vector<bool> reduced(shape.size(), false);
  reduced[1] = true;
  const TensorId max = ReduceDims(
      in, in.Name(0, "max"), acc, shape, reduced, true, Combiner::Kind::kMax,
      "reduce", [&](Index index) { return in.Load(x, index); });
  const auto shifted = [&](Index index) {
    return Binary(Op::kSub, CastTo(acc, in.Load(x, index)),
                  in.Load(max, index));
  };
  const TensorId sum = ReduceDims(
      in, in.Name(0, "exp"), acc, shape, reduced, true, Combiner::Kind::kSum,
      "reduce", [&](Index index) { return NormalExp(shifted(index)); });
  const TensorId log_prob =
      in.Elementwise(op.has_output(1) ? in.Name(1) : in.Name(0, "log_prob"),
                     op.dtype(0), shape, "softmax", [&](Index index) {
                       return Binary(Op::kSub, shifted(index),
                                     Unary(Op::kLog, in.Load(sum, index)));
                     });
  if (op.has_output(1)) in.SetOutput(1, log_prob);
  return EmitLoss(in, log_prob);
}

constexpr OpDef kOps[] = {
    {"NegativeLogLikelihoodLoss", 12, 2, 3, InferLoss, ImportLoss},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, InferCrossEntropy,
     ImportCrossEntropy},
};

}  // namespace

absl::Span<const OpDef> LossOps() { return kOps; }

}  // namespace tilewright

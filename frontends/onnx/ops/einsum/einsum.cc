// Einsum: the product of the operands, summed over the labels the result does
// not have. Of more than two it is taken two at a time.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/einsum/contraction_order.h"
#include "frontends/onnx/ops/einsum/equation.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

absl::Status InferEinsum(OpContext& op) {
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) return op.Error("input ", i, " is missing");
  }
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(const Equation equation, ReadEquation(op));
  Shape shape;
  for (const char label : equation.result) {
    shape.push_back(equation.extent.at(label));
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

struct Factor {
  TensorId tensor;
  std::string
      labels;  // of its dimensions; it may be 1 where their extent is not
};

// `factor` with the label of the result's last dimension as its own last:
// neighbouring results then read neighbours. It is a view where that serves
// them, else a copy (tilegraph/plan/plan_misfits.cc).
Factor WithLast(ImportContext& in, Factor factor, char last,
                const std::string& name) {
  const size_t at = factor.labels.find(last);
  Shape shape = in.shape_of(factor.tensor);
  // Constants are packed as they are read.
  if (at == std::string::npos || at + 1 == factor.labels.size() ||
      shape[at] == 1 ||
      in.graph().tensor(factor.tensor).kind == TensorKind::kConstant)
    return factor;
  const auto dim = static_cast<std::ptrdiff_t>(at);
  shape.push_back(shape[at]);
  shape.erase(shape.begin() + dim);
  factor.labels.erase(at, 1);
  factor.labels.push_back(last);
  const TensorId x = factor.tensor;
  factor.tensor =
      in.Elementwise(name, in.graph().tensor(x).dtype, shape, "transpose",
                     [&](absl::Span<const Expr> index) {
                       std::vector<Expr> from(index.begin(), index.end() - 1);
                       from.insert(from.begin() + dim, index.back());
                       return in.At(x, std::move(from));
                     });
  return factor;
}

NamedAxis AxisOf(const Equation& equation, char label) {
  return {absl::ascii_isalpha(label) ? std::string(1, label)
                                     : absl::StrCat("e", std::string(1, label)),
          equation.extent.at(label)};
}

// The labels of `factors` that `result` does not have.
std::string SummedOf(const Equation& equation, absl::Span<const Factor> factors,
                     const std::string& result) {
  std::string summed;
  for (const auto& [label, extent] : equation.extent) {
    const bool here = std::any_of(
        factors.begin(), factors.end(), [label = label](const Factor& factor) {
          return factor.labels.find(label) != std::string::npos;
        });
    if (here && result.find(label) == std::string::npos) summed += label;
  }
  return summed;
}

// The product of one or two factors with the dimensions `result`.
TensorId Contract(ImportContext& in, const Equation& equation,
                  std::vector<Factor> factors, const std::string& result,
                  const std::string& name) {
  const DType dtype = in.op().dtype(0);
  const DType acc = Combiner::DefaultAccumulator(dtype);
  const std::string summed = SummedOf(equation, factors, result);
  if (factors.size() == 2 && !summed.empty() && !result.empty()) {
    for (size_t i = 0; i < factors.size(); ++i)
      factors[i] = WithLast(in, std::move(factors[i]), result.back(),
                            absl::StrCat(name, ".operand", i));
  }
  const auto product = [&](absl::Span<const Expr> index,
                           absl::Span<const Expr> over) {
    std::map<char, Expr> at;
    for (size_t k = 0; k < index.size(); ++k) at[result[k]] = index[k];
    for (size_t k = 0; k < over.size(); ++k) at[summed[k]] = over[k];
    Expr value;
    for (const Factor& factor : factors) {
      const Shape shape = in.shape_of(factor.tensor);
      std::vector<Expr> where;
      for (size_t d = 0; d < shape.size(); ++d) {
        const char label = factor.labels[d];
        const bool broadcast = shape[d] == 1 && equation.extent.at(label) != 1;
        where.push_back(broadcast ? Expr::Int(0) : at[label]);
      }
      const Expr own = CastTo(acc, in.At(factor.tensor, std::move(where)));
      value = value ? Binary(Op::kMul, value, own) : own;
    }
    return value;
  };
  std::vector<NamedAxis> axes, reduced;
  Shape shape;
  for (const char label : result) {
    axes.push_back(AxisOf(equation, label));
    shape.push_back(axes.back().extent);
  }
  for (const char label : summed) reduced.push_back(AxisOf(equation, label));
  if (summed.empty())
    return in.Elementwise(
        name, dtype, shape, "einsum",
        [&](absl::Span<const Expr> index) { return product(index, {}); });
  return in.Reduction(name, dtype, axes, reduced, Combiner::Kind::kSum,
                      factors.size() == 2 ? "matmul" : "reduce", product);
}

absl::Status ImportEinsum(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const Equation equation, ReadEquation(op));
  std::vector<Factor> factors;
  for (int i = 0; i < op.num_inputs(); ++i)
    factors.push_back({in.input(i), equation.operands[i]});
  if (factors.size() == 1) {
    in.SetOutput(0,
                 Contract(in, equation, factors, equation.result, in.Name()));
    return absl::OkStatus();
  }
  const std::vector<Contraction> steps =
      OrderContractions(equation.operands, equation.result, equation.extent);
  for (size_t k = 0; k < steps.size(); ++k) {
    const auto& [a, b, labels] = steps[k];
    const std::string name = k + 1 == steps.size()
                                 ? in.Name()
                                 : in.Name(0, absl::StrCat("product", k));
    factors.push_back(
        {Contract(in, equation, {factors[a], factors[b]}, labels, name),
         labels});
  }
  in.SetOutput(0, factors.back().tensor);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Einsum", 12, 1, 8, InferEinsum, ImportEinsum},
};

}  // namespace

absl::Span<const OpDef> EinsumOps() { return kOps; }

}  // namespace tilewright

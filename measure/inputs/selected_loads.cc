#include "measure/inputs/selected_loads.h"

#include <optional>

#include "tilegraph/interpret/interpreter.h"

namespace tilewright::measure {
namespace {

// The value of an index under given axes; nullopt if it depends on data.
std::optional<int64_t> EvaluateIndex(const Expr& e,
                                     const std::vector<int64_t>& axes) {
  if (e.op() == Op::kConst) return e.int_value();
  if (e.op() == Op::kVar) return axes[e.var_id()];
  if (e.op() == Op::kLoad || IsFloat(e.dtype())) return std::nullopt;
  std::vector<Scalar> operands;
  for (const Expr& operand : e.operands()) {
    const std::optional<int64_t> value = EvaluateIndex(operand, axes);
    if (!value) return std::nullopt;
    operands.push_back({0, *value});
  }
  return EvaluateOp(e.op(), e.dtype(), e.operands().back().dtype(), operands,
                    false)
      .i;
}

// The next output in row-major order; false after the last.
bool Advance(const Compute& compute, std::vector<int64_t>& axes) {
  for (size_t d = compute.axes.size(); d-- > 0;) {
    if (++axes[d] < compute.axes[d].extent.value()) return true;
    axes[d] = 0;
  }
  return false;
}

}  // namespace

int Direction(const Compute& compute) {
  if (!compute.combiner) return 0;
  switch (compute.combiner->kind()) {
    case Combiner::Kind::kMax:
    case Combiner::Kind::kArgMax:
    case Combiner::Kind::kMaxSumExp:
      return 1;
    case Combiner::Kind::kMin:
    case Combiner::Kind::kArgMin:
      return -1;
    default:
      return 0;
  }
}

std::vector<Expr> SelectedLoads(const TensorGraph& graph,
                                const Tensor& tensor) {
  std::vector<Expr> loads;
  if (tensor.kind != TensorKind::kCompute || Direction(tensor.compute) == 0)
    return loads;
  Visit(tensor.compute.body[0], [&](const Expr& e) {
    const bool leaf = e.op() == Op::kLoad &&
                      graph.tensor(e.source()).kind != TensorKind::kCompute;
    if (leaf && e.dtype() == tensor.compute.body[0].dtype()) loads.push_back(e);
  });
  return loads;
}

void ForEachOutput(const Compute& compute,
                   const std::function<void(std::vector<int64_t>& axes)>& fn) {
  std::vector<int64_t> axes(compute.axes.size() + compute.reduce_axes.size(),
                            0);
  do {
    fn(axes);
  } while (Advance(compute, axes));
}

void SetStep(const Compute& compute, int64_t step, std::vector<int64_t>& axes) {
  for (size_t r = compute.reduce_axes.size(); r-- > 0;) {
    axes[compute.axes.size() + r] =
        step % compute.reduce_axes[r].extent.value();
    step /= compute.reduce_axes[r].extent.value();
  }
}

int64_t PositionOf(const Expr& load, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& axes) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::optional<int64_t> index =
        EvaluateIndex(load.operand(static_cast<int>(d)), axes);
    if (!index || *index < 0 || *index >= shape[d]) return -1;
    at = at * shape[d] + *index;
  }
  return at;
}

}  // namespace tilewright::measure

#include "sketch/rules/dot_choice.h"

#include <algorithm>
#include <utility>

#include "backends/spec/cpu_features.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// The variable that alone indexes the dimension whose neighbours lie side by
// side, if whole groups of them do; -1 otherwise.
int GroupedVar(const Workload& workload, const Expr& load, int64_t group) {
  const Layout layout = workload.LayoutOf(load.source());
  if (layout.digits().empty()) return -1;
  const Layout::Digit& last = layout.digits().back();
  const int digit = static_cast<int>(layout.digits().size()) - 1;
  const Expr& index = load.operand(last.dim);
  if (layout.stride(digit) != 1 || last.div != 1 || last.extent % group != 0 ||
      index.op() != Op::kVar)
    return -1;
  return index.var_id();
}

// Whether an axis indexes a dimension of its own.
bool IndexesAlone(const Expr& load, int var) {
  return std::any_of(load.operands().begin(), load.operands().end(),
                     [&](const Expr& index) {
                       return index.op() == Op::kVar && index.var_id() == var;
                     });
}

}  // namespace

std::optional<DotChoice> ChooseDot(const Workload& workload,
                                   const DeviceSpec& spec,
                                   const Tensor& reduction,
                                   absl::Span<const Expr> body,
                                   int vector_axis) {
  const Compute& compute = reduction.compute;
  if (body.size() != 1 || vector_axis < 0) return std::nullopt;
  std::optional<DotTerm> term = MatchDotTerm(*compute.combiner, body[0]);
  if (!term) return std::nullopt;
  const DotIntrinsic& dot = *term->intrinsic;
  const auto& units = spec.unit().matrix_units();
  if (std::none_of(units.begin(), units.end(), [&](const MatrixUnit& unit) {
        return unit.name() == dot.name;
      }))
    return std::nullopt;
  if (dot.a == dot.b && Mentions(term->a, vector_axis))
    std::swap(term->a, term->b);
  const int spatial = static_cast<int>(compute.axes.size());
  const int var = GroupedVar(workload, term->a, dot.group);
  if (var < spatial || Mentions(term->a, vector_axis) ||
      compute.reduce_axes[var - spatial].extent.value() % dot.group != 0 ||
      workload.graph.tensor(term->b.source()).kind != TensorKind::kConstant ||
      !IndexesAlone(term->b, var) || !IndexesAlone(term->b, vector_axis))
    return std::nullopt;
  // No instruction broadcasts the shared operand by itself: it is loaded ahead
  // of its use. Without VNNI there are even and odd bytes of both operands, and
  // a product.
  const bool whole = dot.a != DType::kUInt8 || HasFeature(spec, "avx512vnni");
  return DotChoice{
      &dot, {var - spatial, dot.group}, whole ? 1 : 2, whole ? 4 : 5};
}

}  // namespace tilewright::sketch

#include "sketch/rules/window_lanes.h"

#include "sketch/rules/shared/group_chain.h"
#include "tilegraph/analysis/axis_groups.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright::sketch {
namespace {

// Whether `term` is the same for all lanes of a vector along `axis`: that of a
// group of channels.
bool IsSharedByLanes(const Expr& term, int axis, int64_t lanes) {
  const auto group = AsAxisGroup(term);
  return !Mentions(term, axis) ||
         (group && group->axis == axis && group->size % lanes == 0);
}

}  // namespace

std::optional<int> AxisOfData(const Workload& workload,
                              const Compute& reduction,
                              absl::Span<const Expr> body, int results,
                              int64_t lanes) {
  bool along_results = false, across_results = false;
  std::optional<int> axis;
  ForEachLoad(body, [&](const Expr& load) {
    if (workload.graph.tensor(load.source()).kind == TensorKind::kConstant)
      return;
    const Expr offset =
        workload.LayoutOf(load.source()).Offset(load.operands());
    for (const auto& [term, coefficient] :
         ToLinear(offset, AxisRanges(reduction)).terms) {
      across_results |= !IsSharedByLanes(term, results, lanes);
      if (coefficient != 1) continue;
      along_results |= Mentions(term, results);
      if (term.op() == Op::kVar &&
          term.var_id() < static_cast<int>(reduction.axes.size()))
        axis = term.var_id();
    }
  });
  if (along_results || !across_results || !axis ||
      2 * reduction.axes[*axis].extent.value() < lanes)
    return std::nullopt;
  return axis;
}

}  // namespace tilewright::sketch

#include "sketch/rules/window_lanes.h"

#include "sketch/rules/shared/group_chain.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright::sketch {

std::optional<int> AxisOfData(const Workload& workload,
                              const Compute& reduction,
                              absl::Span<const Expr> body, int results,
                              int64_t lanes) {
  bool along_results = false;
  std::optional<int> axis;
  ForEachLoad(body, [&](const Expr& load) {
    if (workload.graph.tensor(load.source()).kind == TensorKind::kConstant)
      return;
    const Expr offset =
        workload.LayoutOf(load.source()).Offset(load.operands());
    for (const auto& [term, coefficient] :
         ToLinear(offset, AxisRanges(reduction)).terms) {
      if (coefficient != 1) continue;
      along_results |= Mentions(term, results);
      if (term.op() == Op::kVar &&
          term.var_id() < static_cast<int>(reduction.axes.size()))
        axis = term.var_id();
    }
  });
  if (along_results || !axis ||
      2 * reduction.axes[*axis].extent.value() < lanes)
    return std::nullopt;
  return axis;
}

}  // namespace tilewright::sketch

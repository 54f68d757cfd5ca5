#include "tilegraph/analysis/axis_groups.h"

namespace tilewright {

std::optional<AxisGroup> AsAxisGroup(const Expr& e) {
  if (e.op() != Op::kFloorDiv || e.operand(0).op() != Op::kVar ||
      e.operand(1).op() != Op::kConst || e.operand(1).int_value() <= 0)
    return std::nullopt;
  return AxisGroup{e.operand(0).var_id(), e.operand(1).int_value()};
}

}  // namespace tilewright

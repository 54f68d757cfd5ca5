#include "tilegraph/expr/non_negative.h"

namespace tilewright {

std::optional<LinearForm> AsNonNegative(const Expr& condition,
                                        const RangeOf& ranges) {
  if (condition.operands().size() != 2 ||
      condition.operand(0).dtype() != DType::kInt64)
    return std::nullopt;
  const Expr& a = condition.operand(0);
  const Expr& b = condition.operand(1);
  switch (condition.op()) {
    case Op::kLt:
      return ToLinear(b - a - Expr::Int(1), ranges);
    case Op::kLe:
      return ToLinear(b - a, ranges);
    case Op::kGt:
      return ToLinear(a - b - Expr::Int(1), ranges);
    case Op::kGe:
      return ToLinear(a - b, ranges);
    default:
      return std::nullopt;
  }
}

}  // namespace tilewright

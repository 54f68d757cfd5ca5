#include "sketch/tree/var_digit.h"

#include <algorithm>

namespace tilewright::sketch {

std::optional<VarDigit> AsDigit(const Expr& term, const RangeOf& ranges) {
  if (term.op() == Op::kVar) {
    const std::optional<Range> range = ranges(term.var_id());
    if (!range || range->min != 0) return std::nullopt;
    return VarDigit{term.var_id(), 1, range->max + 1};
  }
  if (term.op() != Op::kFloorDiv && term.op() != Op::kFloorMod)
    return std::nullopt;
  if (term.operand(1).op() != Op::kConst) return std::nullopt;
  const std::optional<VarDigit> inner = AsDigit(term.operand(0), ranges);
  const int64_t by = term.operand(1).int_value();
  if (!inner || by < 1) return std::nullopt;
  if (term.op() == Op::kFloorMod) {
    if (inner->extent % by != 0 && inner->extent > by) return std::nullopt;
    return VarDigit{inner->var, inner->div, std::min(inner->extent, by)};
  }
  if (inner->extent % by != 0) return std::nullopt;
  return VarDigit{inner->var, inner->div * by, inner->extent / by};
}

bool AreComplete(std::vector<VarDigit> digits, int64_t extent) {
  std::sort(digits.begin(), digits.end(),
            [](const VarDigit& a, const VarDigit& b) { return a.div < b.div; });
  int64_t product = 1;
  for (const VarDigit& digit : digits) {
    if (digit.extent == 1) continue;
    if (digit.div != product) return false;
    product *= digit.extent;
  }
  return product == extent;
}

}  // namespace tilewright::sketch

// Between which bounds an index lies while inner variables run, where the lower
// one may depend on outer ones.
#include <algorithm>
#include <cstdlib>

#include "tilegraph/region/region_impl.h"

namespace tilewright::region_internal {
namespace {

void Collect(const Expr& e, Uses& uses) {
  if (e.op() == Op::kLoad) uses.load = true;
  if (e.op() == Op::kVar) {
    if (e.var_id() >= kInner) {
      uses.inner.insert(e.var_id());
    } else {
      uses.outer = true;
    }
  }
  for (const Expr& operand : e.operands()) Collect(operand, uses);
}

std::optional<Hull> HullOfTerm(const Expr& e, const RangeOf& ranges) {
  switch (e.op()) {
    case Op::kFloorDiv: {
      if (e.operand(1).op() != Op::kConst || e.operand(1).int_value() <= 0)
        return std::nullopt;
      std::optional<Hull> x = HullOf(e.operand(0), ranges);
      if (!x) return std::nullopt;
      int64_t divisor = e.operand(1).int_value();
      LinearForm phase = ToLinear(FloorMod(x->lo, e.operand(1)), ranges);
      int64_t last = phase.terms.empty() ? phase.constant : divisor - 1;
      return Hull{FloorDiv(x->lo, e.operand(1)), (last + x->width) / divisor};
    }
    case Op::kMin:
    case Op::kMax: {
      std::optional<Hull> a = HullOf(e.operand(0), ranges),
                          b = HullOf(e.operand(1), ranges);
      if (!a || !b) return std::nullopt;
      return Hull{Expr::Make(e.op(), {a->lo, b->lo}),
                  std::max(a->width, b->width)};
    }
    case Op::kSelect: {
      std::optional<Hull> a = HullOf(e.operand(1), ranges),
                          b = HullOf(e.operand(2), ranges);
      Uses uses = UsesOf(e.operand(0));
      if (!a || !b || uses.load || !uses.inner.empty()) return std::nullopt;
      return Hull{Expr::Make(Op::kSelect, {e.operand(0), a->lo, b->lo}),
                  std::max(a->width, b->width)};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

Uses UsesOf(const Expr& e) {
  Uses uses;
  Collect(e, uses);
  return uses;
}

std::optional<Hull> HullOf(const Expr& e, const RangeOf& ranges) {
  LinearForm form = ToLinear(e, ranges);
  Hull sum{Expr::Int(form.constant), 0};
  bool known = true;
  for (const auto& [term, coefficient] : form.terms) {
    Uses uses = UsesOf(term);
    std::optional<Hull> part;
    if (uses.inner.empty() && !uses.load) {
      part = Hull{term, 0};
    } else {
      if (!uses.load) part = HullOfTerm(term, ranges);
      std::optional<Range> range = RangeOfExpr(term, ranges);
      if (range && (!part || range->max - range->min <= part->width))
        part = Hull{Expr::Int(range->min), range->max - range->min};
    }
    if (!part) {
      known = false;
      break;
    }
    if (coefficient < 0) part->lo = part->lo + Expr::Int(part->width);
    sum.lo = sum.lo + part->lo * Expr::Int(coefficient);
    sum.width += part->width * std::abs(coefficient);
  }
  if (!known) return std::nullopt;
  return sum;
}

}  // namespace tilewright::region_internal

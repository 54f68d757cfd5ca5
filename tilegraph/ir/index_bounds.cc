#include "tilegraph/ir/index_bounds.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "tilegraph/expr/interval.h"

namespace tilewright {

IndexBounds::IndexBounds(const std::vector<int64_t>& extents) {
  for (const int64_t extent : extents) ranges_.push_back({0, extent - 1});
}

RangeOf IndexBounds::Ranges() const {
  return [this](int id) -> std::optional<Range> {
    if (id < 0 || id >= static_cast<int>(ranges_.size())) return std::nullopt;
    return ranges_[id];
  };
}

IndexBounds IndexBounds::Given(const Expr& condition, bool value) const {
  IndexBounds result = *this;
  result.Learn(condition, value);
  result.Narrow();
  return result;
}

void IndexBounds::Learn(const Expr& condition, bool value) {
  const Op op = condition.op();
  if (op == Op::kConst) {
    if ((condition.int_value() != 0) != value) reachable_ = false;
    return;
  }
  if (op == Op::kNot) return Learn(condition.operand(0), !value);
  // (a && b) is true, or (a || b) false: both sides are known.
  if (op == (value ? Op::kAnd : Op::kOr)) {
    Learn(condition.operand(0), value);
    Learn(condition.operand(1), value);
    return;
  }
  const bool comparison = op >= Op::kEq && op <= Op::kGe;
  if (!comparison || condition.operand(0).dtype() != DType::kInt64) {
    understood_ = false;
    return;
  }
  const Expr& a = condition.operand(0);
  const Expr& b = condition.operand(1);
  const Expr one = Expr::Int(1);
  switch (op) {
    case Op::kLt:
      return LearnNotNegative(value ? b - a - one : a - b);
    case Op::kGe:
      return LearnNotNegative(value ? a - b : b - a - one);
    case Op::kGt:
      return LearnNotNegative(value ? a - b - one : b - a);
    case Op::kLe:
      return LearnNotNegative(value ? b - a : a - b - one);
    default:
      break;
  }
  if ((op == Op::kEq) == value) {
    LearnNotNegative(a - b);
    LearnNotNegative(b - a);
  } else {
    understood_ = false;  // Two ranges with a hole.
  }
}

void IndexBounds::LearnNotNegative(const Expr& expr) {
  not_negative_.push_back(ToLinear(expr, Ranges()).ToExpr());
}

// From constant + Σ c·v >= 0: c·v >= -(the most the rest can be).
void IndexBounds::Narrow() {
  for (int round = 0; round < 3; ++round) {
    for (const Expr& fact : not_negative_) {
      const LinearForm form = ToLinear(fact, Ranges());
      for (size_t i = 0; i < form.terms.size(); ++i) {
        const Expr& term = form.terms[i].first;
        const int64_t coefficient = form.terms[i].second;
        if (term.op() != Op::kVar || term.var_id() < 0 ||
            term.var_id() >= static_cast<int>(ranges_.size()))
          continue;
        LinearForm rest = form;
        rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
        const std::optional<Range> others =
            RangeOfExpr(rest.ToExpr(), Ranges());
        if (!others.has_value()) continue;
        Range& range = ranges_[term.var_id()];
        if (coefficient > 0) {
          range.min = std::max(
              range.min, WrapSub(0, FloorDivide(others->max, coefficient)));
        } else {
          range.max = std::min(
              range.max, FloorDivide(others->max, WrapSub(0, coefficient)));
        }
        if (range.min > range.max) {
          reachable_ = false;
          return;
        }
      }
    }
  }
}

bool IndexBounds::NeverNegative(const Expr& expr) const {
  const std::optional<Range> range =
      RangeOfExpr(ToLinear(expr, Ranges()).ToExpr(), Ranges());
  if (range.has_value() && range->min >= 0) return true;
  // Or it exceeds something that a condition says is not negative.
  return std::any_of(
      not_negative_.begin(), not_negative_.end(), [&](const Expr& fact) {
        const std::optional<Range> excess =
            RangeOfExpr(ToLinear(expr - fact, Ranges()).ToExpr(), Ranges());
        return excess.has_value() && excess->min >= 0;
      });
}

bool IndexBounds::MayLeave(const Expr& index, int64_t extent) const {
  if (!reachable_) return false;
  if (NeverNegative(index) && NeverNegative(Expr::Int(extent - 1) - index))
    return false;
  if (!understood_) return false;
  const LinearForm form = ToLinear(index, Ranges());
  return std::all_of(
      form.terms.begin(), form.terms.end(),
      [](const auto& term) { return term.first.op() == Op::kVar; });
}

}  // namespace tilewright

#include "costmodel/features/index_form.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::costmodel {
namespace {

// Wide enough for every index, and its sums and products with small numbers do
// not overflow.
constexpr int64_t kUnbounded = int64_t{1} << 40;
constexpr Interval kAnything = {-kUnbounded, kUnbounded};

Interval Hull(std::initializer_list<int64_t> values) {
  const auto [low, high] = std::minmax(values);
  return {std::max(low, -kUnbounded), std::min(high, kUnbounded)};
}

// Comparisons and logic: what is certain, else both.
Interval Decide(bool certainly, bool possibly) {
  return {certainly ? 1 : 0, possibly ? 1 : 0};
}

Interval Binary(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kAdd:
      return Hull({a.low + b.low, a.high + b.high});
    case Op::kSub:
      return Hull({a.low - b.high, a.high - b.low});
    case Op::kMul: {
      const auto times = [](int64_t x, int64_t y) {
        const double product = static_cast<double>(x) * static_cast<double>(y);
        return product > kUnbounded    ? kUnbounded
               : product < -kUnbounded ? -kUnbounded
                                       : x * y;
      };
      return Hull({times(a.low, b.low), times(a.low, b.high),
                   times(a.high, b.low), times(a.high, b.high)});
    }
    case Op::kFloorDiv:
      if (b.low != b.high || b.low <= 0) return kAnything;
      return {FloorDivide(a.low, b.low), FloorDivide(a.high, b.low)};
    case Op::kFloorMod: {
      if (b.low != b.high || b.low <= 0) return kAnything;
      const int64_t base = FloorDivide(a.low, b.low);
      if (base != FloorDivide(a.high, b.low)) return {0, b.low - 1};
      return {a.low - base * b.low, a.high - base * b.low};
    }
    case Op::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::kLt:
      return Decide(a.high < b.low, a.low < b.high);
    case Op::kLe:
      return Decide(a.high <= b.low, a.low <= b.high);
    case Op::kGt:
      return Decide(a.low > b.high, a.high > b.low);
    case Op::kGe:
      return Decide(a.low >= b.high, a.high >= b.low);
    case Op::kAnd:
      return Decide(a.low == 1 && b.low == 1, a.high == 1 && b.high == 1);
    case Op::kOr:
      return Decide(a.low == 1 || b.low == 1, a.high == 1 || b.high == 1);
    case Op::kEq:
      return Decide(a.low == a.high && b.low == b.high && a.low == b.low,
                    a.low <= b.high && b.low <= a.high);
    case Op::kNe: {
      const Interval equal = Binary(Op::kEq, a, b);
      return Decide(equal.high == 0, equal.low == 0);
    }
    default:
      return kAnything;
  }
}

// The interval of an expression where each variable is in one.
template <typename IntervalOf>
Interval Range(const Expr& expr, const IntervalOf& interval_of) {
  switch (expr.op()) {
    case Op::kConst:
      if (IsFloat(expr.dtype())) return kAnything;
      return {expr.int_value(), expr.int_value()};
    case Op::kVar:
      return interval_of(expr.var_id());
    case Op::kLoad:
      return kAnything;
    case Op::kNeg: {
      const Interval a = Range(expr.operand(0), interval_of);
      return {-a.high, -a.low};
    }
    case Op::kNot: {
      const Interval a = Range(expr.operand(0), interval_of);
      return Decide(a.high == 0, a.low == 0);
    }
    case Op::kCast:
      return Range(expr.operand(0), interval_of);
    case Op::kSelect: {
      const Interval condition = Range(expr.operand(0), interval_of);
      if (condition.low == 1) return Range(expr.operand(1), interval_of);
      if (condition.high == 0) return Range(expr.operand(2), interval_of);
      const Interval a = Range(expr.operand(1), interval_of);
      const Interval b = Range(expr.operand(2), interval_of);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    default:
      if (expr.operands().size() != 2) return kAnything;
      return Binary(expr.op(), Range(expr.operand(0), interval_of),
                    Range(expr.operand(1), interval_of));
  }
}

Interval LoopInterval(const LoopNest& nest, int var, int first) {
  const int loop = nest.Find(var);
  if (loop < first) return {0, 0};
  return {0, nest.extent(loop) - 1};
}

// Whether a load stands in it, and which loops do.
void Scan(const Expr& expr, const LoopNest& nest, LoopSet& loops,
          bool& has_load) {
  if (expr.op() == Op::kVar) {
    const int loop = nest.Find(expr.var_id());
    if (loop >= 0) loops |= LoopSet{1} << loop;
  }
  has_load |= expr.op() == Op::kLoad;
  for (const Expr& operand : expr.operands()) {
    Scan(operand, nest, loops, has_load);
  }
}

// `leaf`: the form of a variable; `over_loops`: an expression with its
// variables replaced by loops.
template <typename Leaf, typename OverLoops>
IndexForm Form(const Expr& expr, const LoopNest& nest, const Leaf& leaf,
               const OverLoops& over_loops) {
  const auto of = [&](int i) {
    return Form(expr.operand(i), nest, leaf, over_loops);
  };
  IndexForm form;
  switch (expr.op()) {
    case Op::kConst:
      form.constant = IsFloat(expr.dtype()) ? 0 : expr.int_value();
      return form;
    case Op::kVar:
      return leaf(expr);
    case Op::kCast:
      if (!IsFloat(expr.operand(0).dtype())) return of(0);
      break;
    case Op::kAdd:
    case Op::kSub:
      form = of(0);
      form.Add(of(1), expr.op() == Op::kAdd ? 1 : -1);
      return form;
    case Op::kMul:
      for (const int i : {0, 1}) {
        if (expr.operand(i).op() != Op::kConst) continue;
        form.Add(of(1 - i), expr.operand(i).int_value());
        return form;
      }
      break;
    default:
      break;
  }
  IndexForm::Opaque opaque{over_loops(expr), 0, 1, false};
  Scan(opaque.expr, nest, opaque.loops, opaque.unbounded);
  form.opaque.push_back(std::move(opaque));
  return form;
}

IndexForm FormOfLoopVar(const Expr& var, const LoopNest& nest) {
  IndexForm form;
  const int loop = nest.Find(var.var_id());
  TW_CHECK_GE(loop, 0) << "a block uses " << var.var_name()
                       << ", which is no loop around it";
  if (nest.extent(loop) > 1) form.linear.push_back({loop, 1});
  return form;
}

// low, low + step, ..., `count` values; or, if not regular, that many anywhere
// from low to high.
struct Progression {
  double count = 1;
  int64_t low = 0, high = 0, step = 1;
  bool regular = true;

  // Adds any of 0, coefficient, ..., (values - 1) * coefficient.
  void Extend(int64_t coefficient, int64_t values) {
    if (values <= 1 || coefficient == 0) return;
    const int64_t stride = std::abs(coefficient);
    if (coefficient < 0) low -= stride * (values - 1);
    if (coefficient > 0) high += stride * (values - 1);
    const int64_t reach = high - low;
    const int64_t before = reach - stride * (values - 1);
    if (before == 0) {
      step = stride;
      count = static_cast<double>(values);
    } else if (regular && stride % step == 0 && stride <= before + step) {
      count = static_cast<double>(reach / step + 1);
    } else {
      count = std::min(count * static_cast<double>(values),
                       static_cast<double>(reach + 1));
      regular = false;
    }
  }
};

}  // namespace

LoopNest::LoopNest(std::vector<int> vars, std::vector<int64_t> extents,
                   int num_vars)
    : extents_(std::move(extents)), loop_of_var_(num_vars, -1) {
  TW_CHECK_LE(static_cast<int>(vars.size()), kMaxLoops);
  for (size_t i = 0; i < vars.size(); ++i) {
    loop_of_var_[vars[i]] = static_cast<int>(i);
  }
}

void IndexForm::Add(const IndexForm& other, int64_t factor) {
  constant += factor * other.constant;
  for (const Linear& term : other.linear) {
    const auto same =
        std::find_if(linear.begin(), linear.end(),
                     [&](const Linear& l) { return l.loop == term.loop; });
    if (same == linear.end()) {
      linear.push_back({term.loop, factor * term.coefficient});
    } else if ((same->coefficient += factor * term.coefficient) == 0) {
      linear.erase(same);
    }
  }
  for (const Opaque& term : other.opaque) {
    const auto same =
        std::find_if(opaque.begin(), opaque.end(), [&](const Opaque& o) {
          return o.loops == term.loops && o.expr == term.expr;
        });
    if (same == opaque.end()) {
      opaque.push_back(term);
      opaque.back().coefficient *= factor;
    } else if ((same->coefficient += factor * term.coefficient) == 0) {
      opaque.erase(same);
    }
  }
}

LoopSet IndexForm::Loops() const {
  LoopSet loops = 0;
  for (const Linear& term : linear) loops |= LoopSet{1} << term.loop;
  for (const Opaque& term : opaque) loops |= term.loops;
  return loops;
}

IndexForm FormOfLoops(const Expr& expr, const LoopNest& nest) {
  return Form(
      expr, nest, [&](const Expr& var) { return FormOfLoopVar(var, nest); },
      [](const Expr& opaque) { return opaque; });
}

IndexForm FormOfAxes(const Expr& expr, const LoopNest& nest,
                     absl::Span<const IndexForm> axes,
                     absl::Span<const Expr> axis_bindings) {
  return Form(
      expr, nest, [&](const Expr& axis) { return axes[axis.var_id()]; },
      [&](const Expr& opaque) {
        return Substitute(opaque,
                          [&](int axis) { return axis_bindings[axis]; });
      });
}

IndexValues ValuesOf(const IndexForm& form, const LoopNest& nest, int first,
                     int64_t shape) {
  // Small steps first: larger ones then continue them, or leave gaps.
  std::array<std::pair<int64_t, int64_t>, 2 * kMaxLoops> terms;
  int count = 0;
  int64_t base = form.constant;
  for (const IndexForm::Linear& term : form.linear) {
    if (term.loop < first) continue;
    terms[count++] = {term.coefficient, nest.extent(term.loop)};
  }
  for (const IndexForm::Opaque& term : form.opaque) {
    const Interval range = Range(
        term.expr, [&](int var) { return LoopInterval(nest, var, first); });
    if (term.unbounded || range.high - range.low >= kUnbounded ||
        count == 2 * kMaxLoops) {
      return {static_cast<double>(shape), {0, shape - 1}};
    }
    base += term.coefficient * range.low;
    terms[count++] = {term.coefficient, range.high - range.low + 1};
  }
  std::sort(terms.begin(), terms.begin() + count,
            [](const auto& a, const auto& b) {
              return std::abs(a.first) < std::abs(b.first);
            });
  Progression values;
  for (int i = 0; i < count; ++i)
    values.Extend(terms[i].first, terms[i].second);
  const Interval hull = {std::max<int64_t>(base + values.low, 0),
                         std::min(base + values.high, shape - 1)};
  if (hull.low > hull.high) return {0, {0, -1}};
  if (!values.regular) {
    return {
        std::min(values.count, static_cast<double>(hull.high - hull.low + 1)),
        hull};
  }
  // Those of low, low + step, ... that lie inside are counted.
  const int64_t low = base + values.low, step = values.step;
  const int64_t below = low < 0 ? -FloorDivide(low, step) : 0;
  const int64_t last = FloorDivide(hull.high - low, step);
  const auto inside =
      static_cast<double>(std::max<int64_t>(last - below + 1, 0));
  return {inside, {low + below * step, low + last * step}};
}

int64_t StepOf(const IndexForm& form, const LoopNest& nest, int loop) {
  int64_t step = 0;
  for (const IndexForm::Linear& term : form.linear) {
    if (term.loop == loop) step += term.coefficient;
  }
  std::array<int64_t, kMaxLoops> point{};
  const auto span = absl::MakeConstSpan(point).subspan(0, nest.size());
  for (const IndexForm::Opaque& term : form.opaque) {
    if ((term.loops >> loop & 1) == 0) continue;
    const int64_t at_0 = ValueAt(term.expr, nest, span);
    point[loop] = 1;
    step += term.coefficient * (ValueAt(term.expr, nest, span) - at_0);
    point[loop] = 0;
  }
  return step;
}

int64_t ValueAt(const Expr& expr, const LoopNest& nest,
                absl::Span<const int64_t> point) {
  const Interval value = Range(expr, [&](int var) -> Interval {
    const int loop = nest.Find(var);
    const int64_t at = loop < 0 ? 0 : point[loop];
    return {at, at};
  });
  // Values that no point tells (loads) are taken as 0.
  return value.low == value.high ? value.low : 0;
}

}  // namespace tilewright::costmodel

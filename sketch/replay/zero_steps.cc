#include "sketch/replay/zero_steps.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "tilegraph/expr/interval.h"

namespace tilewright::sketch {
namespace {

// Indices in [0, below) or [from, extent) are known zeros.
struct Ends {
  int64_t below, from;
};
Ends EndsOf(const KnownZeros& zeros, int dim, absl::Span<const int64_t> shape) {
  return {zeros.before[dim], shape[dim] - zeros.after[dim]};
}

// A variable of a linear form: its value is 0 .. extent - 1.
struct Mover {
  int64_t coefficient = 0;
  int64_t extent = 1;
};

// How many values of `mover` take first + coefficient * value below `bound`.
int64_t CountBelow(const Mover& mover, int64_t first, int64_t bound) {
  if (mover.coefficient == 0) return first < bound ? mover.extent : 0;
  if (mover.coefficient < 0) {
    const int64_t last = first + mover.coefficient * (mover.extent - 1);
    return CountBelow({-mover.coefficient, mover.extent}, last, bound);
  }
  const int64_t count = -FloorDivide(first - bound, mover.coefficient);
  return std::clamp<int64_t>(count, 0, mover.extent);
}

}  // namespace

bool VanishesWith(const Expr& value, const Expr& load) {
  if (value == load) return true;
  switch (value.op()) {
    case Op::kCast:
      return VanishesWith(value.operand(0), load);
    case Op::kMul:
      return VanishesWith(value.operand(0), load) ||
             VanishesWith(value.operand(1), load);
    default:
      return false;
  }
}

Expr ReadsNoZero(const Expr& load, const KnownZeros& zeros, int dim,
                 absl::Span<const int64_t> shape, const RangeOf& ranges) {
  if (zeros.empty()) return Expr();
  const Ends ends = EndsOf(zeros, dim, shape);
  const Expr index = load.operand(dim);
  Expr all;
  for (const Expr& condition :
       {Expr::Make(Op::kGe, {index, Expr::Int(ends.below)}),
        Expr::Make(Op::kLt, {index, Expr::Int(ends.from)})}) {
    const Expr simple = Simplify(condition, ranges);
    if (simple.IsIntConst(1)) continue;
    all = all ? Expr::Make(Op::kAnd, {all, simple}) : simple;
  }
  return all;
}

double ShareOfZeros(const Expr& load, const KnownZeros& zeros, int dim,
                    absl::Span<const int64_t> shape, const RangeOf& ranges) {
  if (zeros.empty()) return 0;
  const Ends ends = EndsOf(zeros, dim, shape);
  const LinearForm form = ToLinear(load.operand(dim), ranges);
  if (form.terms.size() > 2) return 0;
  Mover movers[2];
  for (size_t i = 0; i < form.terms.size(); ++i) {
    const auto& [term, coefficient] = form.terms[i];
    const std::optional<Range> range =
        term.op() == Op::kVar ? ranges(term.var_id()) : std::nullopt;
    if (!range || range->min != 0) return 0;
    movers[i] = {coefficient, range->max + 1};
  }
  // The shorter one is gone through value by value.
  if (movers[0].extent < movers[1].extent) std::swap(movers[0], movers[1]);
  int64_t zero = 0;
  for (int64_t i = 0; i < movers[1].extent; ++i) {
    const int64_t first = form.constant + i * movers[1].coefficient;
    zero += CountBelow(movers[0], first, ends.below) + movers[0].extent -
            CountBelow(movers[0], first, ends.from);
  }
  return static_cast<double>(zero) /
         static_cast<double>(movers[0].extent * movers[1].extent);
}

}  // namespace tilewright::sketch

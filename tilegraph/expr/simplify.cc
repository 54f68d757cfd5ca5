#include "tilegraph/expr/simplify.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tilegraph/expr/simplify_impl.h"

namespace tilewright {
namespace simplify_internal {
namespace {

LinearForm Constant(int64_t value) {
  LinearForm r;
  r.constant = value;
  return r;
}

Interval RangeOfDType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kInt8:
      return {-128, 127};
    case DType::kInt16:
      return {-32768, 32767};
    case DType::kInt32:
      return {-(int64_t{1} << 31), (int64_t{1} << 31) - 1};
    case DType::kUInt8:
      return {0, 255};
    case DType::kUInt16:
      return {0, 65535};
    case DType::kUInt32:
      return {0, (int64_t{1} << 32) - 1};
    default:
      return {};
  }
}

}  // namespace

Expr Simplifier::Run(const Expr& e) {
  if (e.op() == Op::kConst) return e;
  auto found = done_.find(e);
  if (found != done_.end()) return found->second;
  Expr result =
      e.dtype() == DType::kInt64 ? TreeOf(Linear(e)) : SimplifyNode(e);
  done_.emplace(e, result);
  return result;
}

LinearForm Simplifier::Linear(const Expr& e) {
  if (e.op() == Op::kConst) return Constant(e.int_value());
  if (e.op() == Op::kVar) {
    Interval range = RangeOfNode(e);
    return range.lo == range.hi ? Constant(range.lo) : SingleTerm(e);
  }
  auto found = linear_.find(e);
  if (found != linear_.end()) return found->second;
  LinearForm form = LinearOfNode(e);
  if (const Expr* term = AsSingleTerm(form)) {
    Interval range = RangeOfNode(*term);
    if (range.lo == range.hi) {
      form = Constant(range.lo);
    } else if (!term->operands().empty()) {
      linear_.emplace(*term, form);  // it will be met again inside larger trees
    }
  } else if (form.terms.size() > 1) {
    form = JoinDigits(std::move(form));
  }
  linear_.emplace(e, form);
  return form;
}

LinearForm Simplifier::MinMax(Op op, const Expr& a, const Expr& b) {
  LinearForm x = Linear(a), y = Linear(b);
  Interval rx = RangeOfForm(x), ry = RangeOfForm(y);
  std::optional<bool> less = DecideByRanges(Op::kLe, rx, ry);
  if (!less && !MayWrap(x) && !MayWrap(y))
    less = DecideByRanges(Op::kLe, RangeOfForm(AddScaled(x, y, -1)),
                          Interval::Point(0));
  if (less) return (*less == (op == Op::kMin)) ? x : y;
  Expr ex = TreeOf(x), ey = TreeOf(y);
  if (ex.op() == Op::kConst) std::swap(ex, ey);
  if (ey.op() == Op::kConst && ex.op() == op &&
      ex.operand(1).op() == Op::kConst) {
    int64_t c = ex.operand(1).int_value(), d = ey.int_value();
    return MinMax(op, ex.operand(0),
                  Expr::Int(op == Op::kMin ? std::min(c, d) : std::max(c, d)));
  }
  if (ey.op() != Op::kConst && CompareExprs(ex, ey) > 0) std::swap(ex, ey);
  return SingleTerm(Expr::Make(op, {ex, ey}));
}

LinearForm Simplifier::LinearOfNode(const Expr& e) {
  auto opaque = [&] {
    std::vector<Expr> operands;
    operands.reserve(e.operands().size());
    for (const Expr& operand : e.operands()) operands.push_back(Run(operand));
    return SingleTerm(RebuildWith(e, std::move(operands)));
  };
  switch (e.op()) {
    case Op::kAdd:
      return AddScaled(Linear(e.operand(0)), Linear(e.operand(1)), 1);
    case Op::kSub:
      return AddScaled(Linear(e.operand(0)), Linear(e.operand(1)), -1);
    case Op::kNeg:
      return Scaled(Linear(e.operand(0)), -1);
    case Op::kMul: {
      LinearForm a = Linear(e.operand(0)), b = Linear(e.operand(1));
      if (a.terms.empty()) return Scaled(b, a.constant);
      if (b.terms.empty()) return Scaled(a, b.constant);
      Expr x = TreeOf(a), y = TreeOf(b);
      if (CompareExprs(x, y) > 0) std::swap(x, y);
      return SingleTerm(Expr::Make(Op::kMul, {x, y}));
    }
    case Op::kDiv:
    case Op::kFloorDiv:
    case Op::kFloorMod: {
      LinearForm a = Linear(e.operand(0)), b = Linear(e.operand(1));
      if (!b.terms.empty()) break;
      if (b.constant == 0) return Constant(0);
      if (a.terms.empty()) {
        if (e.op() == Op::kDiv)
          return Constant(b.constant == -1 ? WrapSub(0, a.constant)
                                           : a.constant / b.constant);
        return Constant(e.op() == Op::kFloorDiv
                            ? FloorDivide(a.constant, b.constant)
                            : FloorModulo(a.constant, b.constant));
      }
      if (b.constant < 0 || (e.op() == Op::kDiv && RangeOfForm(a).lo < 0))
        break;
      QuotientRemainder digits = DivMod(a, b.constant);
      return e.op() == Op::kFloorMod ? digits.remainder : digits.quotient;
    }
    case Op::kMax:
    case Op::kMin:
      return MinMax(e.op(), e.operand(0), e.operand(1));
    case Op::kAbs: {
      LinearForm a = Linear(e.operand(0));
      Interval range = RangeOfForm(a);
      if (range.lo >= 0) return a;
      if (range.hi <= 0) return Scaled(a, -1);
      break;
    }
    case Op::kSelect: {
      Expr condition = Run(e.operand(0));
      if (IsTrue(condition)) return Linear(e.operand(1));
      if (IsFalse(condition)) return Linear(e.operand(2));
      Expr a = Run(e.operand(1)), b = Run(e.operand(2));
      return a == b ? Linear(a) : SingleTerm(RebuildWith(e, {condition, a, b}));
    }
    case Op::kCast: {
      Expr a = Run(e.operand(0));
      if (a.dtype() == DType::kInt64) return Linear(a);
      if (a.op() == Op::kConst && !IsFloat(a.dtype()))
        return Constant(a.int_value());
      break;
    }
    default:
      break;
  }
  return opaque();
}

Interval Simplifier::RangeOfTree(const Expr& e) {
  if (e.dtype() == DType::kInt64) return RangeOfForm(Linear(e));
  return IsFloat(e.dtype()) ? Interval{} : RangeOfNode(Run(e));
}

// REQUIRES: e is as Linear or Run leaves it.
Interval Simplifier::RangeOfNode(const Expr& e) {
  if (e.op() == Op::kConst)
    return IsFloat(e.dtype()) ? Interval{} : Interval::Point(e.int_value());
  if (e.dtype() != DType::kInt64) return RangeOfDType(e.dtype());
  if (e.op() == Op::kLoad) return {};
  if (e.op() == Op::kVar) {
    const std::optional<Range> known = ranges_(e.var_id());
    return known ? Interval{known->min, known->max} : Interval{};
  }
  auto found = interval_.find(e);
  if (found != interval_.end()) return found->second;
  auto range = [&](int i) { return RangeOfTree(e.operand(i)); };
  Interval r;
  switch (e.op()) {
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kDiv: {
      if (e.operand(1).op() != Op::kConst || e.operand(1).int_value() <= 0)
        break;
      int64_t divisor = e.operand(1).int_value();
      Interval a = range(0);
      if (e.op() == Op::kFloorMod) {
        r = a.FloorModBy(divisor);
      } else if (e.op() == Op::kFloorDiv) {
        r = a.FloorDivBy(divisor);
      } else {
        r = {a.lo == Interval::kMinusInfinity ? a.lo : a.lo / divisor,
             a.hi == Interval::kPlusInfinity ? a.hi : a.hi / divisor};
      }
      break;
    }
    case Op::kMul:
      r = range(0) * range(1);
      break;
    case Op::kMin:
      r = Interval::Min(range(0), range(1));
      break;
    case Op::kMax:
      r = Interval::Max(range(0), range(1));
      break;
    case Op::kAbs: {
      Interval a = range(0);
      if (a.bounded()) r = {0, std::max(-a.lo, a.hi)};
      break;
    }
    case Op::kSelect:
      r = Interval::Hull(range(1), range(2));
      break;
    case Op::kCast:
      r = IsFloat(e.operand(0).dtype()) ? Interval{}
                                        : RangeOfTree(e.operand(0));
      break;
    case Op::kXor: {
      Interval a = range(0), b = range(1);
      if (!a.bounded() || !b.bounded() || a.lo < 0 || b.lo < 0) break;
      int64_t all = a.hi | b.hi;
      for (int shift = 1; shift < 64; shift *= 2) all |= all >> shift;
      r = {0, all};
      break;
    }
    default:
      break;
  }
  interval_.emplace(e, r);
  return r;
}

Expr Simplifier::SimplifyNode(const Expr& e) {
  std::vector<Expr> operands;
  operands.reserve(e.operands().size());
  if (IsComparison(e.op())) return Compare(e);
  if (e.op() == Op::kSelect) {
    Expr condition = Run(e.operand(0));
    if (IsTrue(condition)) return Run(e.operand(1));
    if (IsFalse(condition)) return Run(e.operand(2));
    Expr a = Run(e.operand(1)), b = Run(e.operand(2));
    return a == b ? a : RebuildWith(e, {condition, a, b});
  }
  if (e.dtype() == DType::kBool && (e.op() == Op::kAnd || e.op() == Op::kOr))
    return Junction(e);
  for (const Expr& operand : e.operands()) operands.push_back(Run(operand));
  if (e.op() == Op::kCast && operands[0].dtype() == e.dtype())
    return operands[0];
  if (e.op() == Op::kNot && e.dtype() == DType::kBool)
    return Not(e, operands[0]);
  if (e.op() == Op::kXor && e.dtype() == DType::kBool) {
    if (IsFalse(operands[0])) return operands[1];
    if (IsFalse(operands[1])) return operands[0];
  }
  if (IsInteger(e.dtype())) {
    if ((e.op() == Op::kAdd || e.op() == Op::kSub) && operands[1].IsIntConst(0))
      return operands[0];
    if (e.op() == Op::kAdd && operands[0].IsIntConst(0)) return operands[1];
    if (e.op() == Op::kMul && operands[1].IsIntConst(1)) return operands[0];
    if (e.op() == Op::kMul && operands[0].IsIntConst(1)) return operands[1];
  }
  return RebuildWith(e, std::move(operands));
}

}  // namespace simplify_internal

LinearForm ToLinear(const Expr& index, const RangeOf& ranges) {
  return simplify_internal::Simplifier(ranges).Linear(index);
}

std::optional<Range> RangeOfExpr(const Expr& index, const RangeOf& ranges) {
  Interval range = simplify_internal::Simplifier(ranges).RangeOfTree(index);
  if (!range.bounded()) return std::nullopt;
  return Range{range.lo, range.hi};
}

Expr Simplify(const Expr& expr, const RangeOf& ranges) {
  return simplify_internal::Simplifier(ranges).Run(expr);
}

}  // namespace tilewright

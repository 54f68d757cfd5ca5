// The values of expressions at one position: scalars where no lane differs,
// vectors otherwise.
#include <utility>

#include "backends/lowering/vectorize/tile_op_emitter.h"
#include "base/check.h"

namespace tilewright::lowering {

Reg OpEmitter::Value(const Expr& e) {
  if (e.op() == Op::kConst)
    return IsFloat(e.dtype()) ? b_.Float(e.float_value(), e.dtype())
                              : b_.Int(e.int_value(), e.dtype());
  auto found = known_.find(e);
  if (found != known_.end()) return found->second;
  Reg value = Compute(e);
  known_[e] = value;
  return value;
}

Reg OpEmitter::Compute(const Expr& e) {
  if ((e.dtype() == DType::kInt64 || e.dtype() == DType::kBool) &&
      e.op() != Op::kVar && e.op() != Op::kLoad && !HoldsLoad(e)) {
    const Expr bound = BindPosition(e);
    if (bound.op() == Op::kConst)
      return b_.Int(bound.int_value(), bound.dtype());
    if (bound != e) return Value(bound);
  }
  switch (e.op()) {
    case Op::kVar:
      return Variable(e.var_id());
    case Op::kLoad:
      return LoadValue(e, mask_, kNoReg);
    case Op::kCast:
      return b_.Cast(e.dtype(), Value(e.operand(0)));
    case Op::kSelect:
      return SelectValue(e);
    default: {
      std::vector<Reg> operands;
      for (const Expr& operand : e.operands())
        operands.push_back(Value(operand));
      return b_.Emit(e.op(), std::move(operands));
    }
  }
}

Reg OpEmitter::SelectValue(const Expr& e) {
  const Expr condition =
      HoldsLoad(e.operand(0)) ? e.operand(0) : BindPosition(e.operand(0));
  if (condition.IsIntConst(1)) return Value(e.operand(1));
  if (condition.IsIntConst(0)) return Value(e.operand(2));
  const Reg test = Value(condition);
  // Loads that stand in a branch happen only where the branch is taken.
  const bool guards_then = NeedsGuard(e.operand(1)),
             guards_else = NeedsGuard(e.operand(2));
  const Reg outer = mask_;
  if (e.operand(1).op() == Op::kLoad && guards_then &&
      !IsInBounds(e.operand(1)) && e.operand(2).op() == Op::kConst) {
    const Reg other = Value(e.operand(2));
    mask_ = And(outer, test);
    const Reg value = LoadValue(e.operand(1), mask_, other);
    mask_ = outer;
    return value;
  }
  Reg a = Branch(e.operand(1), guards_then, outer, test);
  Reg b = Branch(e.operand(2), guards_else, outer,
                 guards_else ? b_.Emit(Op::kNot, {test}) : test);
  mask_ = outer;
  return b_.Select(test, a, b);
}

Reg OpEmitter::Branch(const Expr& e, bool guarded, Reg outer, Reg test) {
  if (!guarded) {
    mask_ = outer;
    return Value(e);
  }
  std::unordered_map<Expr, Reg, ExprHash> outside = known_;
  mask_ = And(outer, test);
  const Reg value = Value(e);
  known_ = std::move(outside);
  mask_ = outer;
  return value;
}

bool OpEmitter::NeedsGuard(const Expr& e) {
  bool needs = false;
  Visit(e, [&](const Expr& x) {
    needs = needs || (x.op() == Op::kLoad && c_.memory[x.source()] >= 0 &&
                      !IsInBounds(x));
  });
  return needs;
}

bool OpEmitter::HoldsLoad(const Expr& e) {
  auto found = holds_load_.find(e);
  if (found != holds_load_.end()) return found->second;
  bool holds = e.op() == Op::kLoad;
  for (const Expr& operand : e.operands()) holds = holds || HoldsLoad(operand);
  holds_load_[e] = holds;
  return holds;
}

Reg OpEmitter::Variable(int var) {
  if (var == lane_var_) return lane_ ? b_.Int(*lane_) : Iota();
  auto at = at_.find(var);
  if (at != at_.end()) return b_.Int(at->second);
  auto loop = c_.loops.find(var);
  TW_CHECK(loop != c_.loops.end())
      << "variable " << var << " is out of scope in " << c_.kernel.name;
  return loop->second.reg == kNoReg ? b_.Int(loop->second.constant)
                                    : loop->second.reg;
}

Reg OpEmitter::Iota() {
  Reg iota = b_.Int(0, DType::kInt64, lanes_);
  for (int i = 1; i < lanes_; ++i) iota = b_.Insert(iota, i, b_.Int(i));
  return iota;
}

// The position's constants put in; simplified under what the lanes can be.
Expr OpEmitter::BindPosition(const Expr& e) const {
  Expr bound = Substitute(e, [&](int var) -> Expr {
    if (var == lane_var_ && lane_) return Expr::Int(*lane_);
    auto at = at_.find(var);
    return at == at_.end() ? Expr() : Expr::Int(at->second);
  });
  return Simplify(
      bound,
      c_.ranges.ranges((extent_ + plan_.lanes - 1) / plan_.lanes, active_));
}

}  // namespace tilewright::lowering

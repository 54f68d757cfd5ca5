#include "tilegraph/expr/rounding_ops.h"

namespace tilewright {

bool IsExactOp(Op op) {
  switch (op) {
    case Op::kNeg:
    case Op::kAbs:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kNot:
    case Op::kIsNan:
    case Op::kMax:
    case Op::kMin:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
    case Op::kSelect:
      return true;
    default:
      return false;
  }
}

bool IsRingOp(Op op) {
  return IsExactOp(op) || op == Op::kConst || op == Op::kVar ||
         op == Op::kLoad || op == Op::kCast || op == Op::kAdd ||
         op == Op::kSub || op == Op::kMul;
}

}  // namespace tilewright

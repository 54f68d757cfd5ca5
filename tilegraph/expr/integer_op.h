// The meaning of operations on integers (op.h): 64 bits that wrap, compared and
// divided without sign where the dtype is u64. Division by zero gives zero.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_INTEGER_OP_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_INTEGER_OP_H_

#include <cstdint>

#include "base/check.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/interval.h"

namespace tilewright {

// `base` to the power of `exponent`. A negative exponent gives
// 1 / base^|exponent|, truncated; 0 to a negative power is a division by zero.
int64_t IntegerPower(bool is_unsigned, int64_t base, int64_t exponent);

// A comparison of integers or floats.
template <typename T>
bool Compare(Op op, T a, T b) {
  switch (op) {
    case Op::kEq:
      return a == b;
    case Op::kNe:
      return a != b;
    case Op::kLt:
      return a < b;
    case Op::kLe:
      return a <= b;
    case Op::kGt:
      return a > b;
    case Op::kGe:
      return a >= b;
    default:
      TW_CHECK(false) << Name(op) << " compares nothing";
      return false;
  }
}

// The result of an arithmetic or logic operation, not yet wrapped to a narrower
// dtype, or of a comparison (0 or 1). `dtype`: of the operands; `b` is looked
// at where the operation has two. REQUIRES: neither kSelect, kCast nor kIsNan.
// Inline, so that loops over lanes of one operation become vectors.
inline int64_t EvaluateIntegerOp(Op op, DType dtype, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  // Narrower unsigned values are never negative in 64 bits.
  const bool is_unsigned = dtype == DType::kUInt64;
  const bool less = is_unsigned ? ua < ub : a < b;
  switch (op) {
    case Op::kNeg:
      return WrapSub(0, a);
    case Op::kAbs:
      return a < 0 && !is_unsigned ? WrapSub(0, a) : a;
    case Op::kNot:
      return dtype == DType::kBool ? a == 0 : ~a;
    case Op::kAdd:
      return WrapAdd(a, b);
    case Op::kSub:
      return WrapSub(a, b);
    case Op::kMul:
      return WrapMul(a, b);
    case Op::kDiv:
      if (b == 0) return 0;
      if (is_unsigned) return static_cast<int64_t>(ua / ub);
      return b == -1 ? WrapSub(0, a) : a / b;
    case Op::kFloorDiv:
      if (!is_unsigned) return FloorDivide(a, b);
      return b == 0 ? 0 : static_cast<int64_t>(ua / ub);
    case Op::kFloorMod:
      if (!is_unsigned) return FloorModulo(a, b);
      return b == 0 ? 0 : static_cast<int64_t>(ua % ub);
    case Op::kPow:
      return IntegerPower(is_unsigned, a, b);
    case Op::kMax:
      return less ? b : a;
    case Op::kMin:
      return less ? a : b;
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    default:
      return is_unsigned ? Compare(op, ua, ub) : Compare(op, a, b);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_INTEGER_OP_H_

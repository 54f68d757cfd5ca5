// The meaning of every operation on scalars (tilegraph/expr/op.h).
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "tilegraph/expr/integer_op.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright {
namespace {

Scalar OfFloat(double f) { return Scalar{f, 0}; }
Scalar OfInt(int64_t i) { return Scalar{0, i}; }

double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double Minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

int64_t Saturate(double value, double below, double above, int64_t min,
                 int64_t max) {
  if (std::isnan(value)) return 0;
  if (value <= below) return min;
  if (value >= above) return max;
  return static_cast<int64_t>(value);
}

int64_t FloatToInt(DType to, double value) {
  switch (to) {
    case DType::kBool:
      return value != 0;
    case DType::kInt8:
      return Saturate(value, -0x1p7, 0x1p7 - 1, INT8_MIN, INT8_MAX);
    case DType::kInt16:
      return Saturate(value, -0x1p15, 0x1p15 - 1, INT16_MIN, INT16_MAX);
    case DType::kInt32:
      return Saturate(value, -0x1p31, 0x1p31 - 1, INT32_MIN, INT32_MAX);
    case DType::kInt64:
      return Saturate(value, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX);
    case DType::kUInt8:
      return Saturate(value, 0, 0x1p8 - 1, 0, UINT8_MAX);
    case DType::kUInt16:
      return Saturate(value, 0, 0x1p16 - 1, 0, UINT16_MAX);
    case DType::kUInt32:
      return Saturate(value, 0, 0x1p32 - 1, 0, UINT32_MAX);
    case DType::kUInt64:
      if (!(value > 0)) return 0;
      return value >= 0x1p64
                 ? -1
                 : static_cast<int64_t>(static_cast<uint64_t>(value));
    default:
      break;
  }
  TW_CHECK(false) << "no integer dtype: " << Name(to);
  return 0;
}

Scalar Cast(DType to, DType from, Scalar value, bool single) {
  if (IsFloat(to)) {
    if (!IsFloat(from))
      value = OfFloat(from == DType::kUInt64
                          ? static_cast<double>(static_cast<uint64_t>(value.i))
                          : static_cast<double>(value.i));
    return single ? RoundTo(to, value) : value;
  }
  return IsFloat(from) ? OfInt(FloatToInt(to, value.f))
                       : RoundTo(to, OfInt(value.i));
}

double EvaluateFloat(Op op, absl::Span<const Scalar> x) {
  const double a = x[0].f;
  switch (op) {
    case Op::kNeg:
      return -a;
    case Op::kAbs:
      return std::fabs(a);
    case Op::kExp:
      return std::exp(a);
    case Op::kLog:
      return std::log(a);
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kTanh:
      return std::tanh(a);
    case Op::kErf:
      return std::erf(a);
    case Op::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case Op::kSin:
      return std::sin(a);
    case Op::kCos:
      return std::cos(a);
    case Op::kFloor:
      return std::floor(a);
    case Op::kCeil:
      return std::ceil(a);
    case Op::kRound:
      return std::nearbyint(a);  // The default rounding mode: half to even.
    case Op::kAdd:
      return a + x[1].f;
    case Op::kSub:
      return a - x[1].f;
    case Op::kMul:
      return a * x[1].f;
    case Op::kDiv:
      return a / x[1].f;
    case Op::kPow:
      return std::pow(a, x[1].f);
    case Op::kMax:
      return Maximum(a, x[1].f);
    case Op::kMin:
      return Minimum(a, x[1].f);
    default:
      break;
  }
  TW_CHECK(false) << "operation " << Name(op) << " has no meaning on floats";
  return 0;
}

}  // namespace

Scalar EvaluateOp(Op op, DType dtype, DType operand_dtype,
                  absl::Span<const Scalar> operands, bool single) {
  switch (op) {
    case Op::kCast:
      return Cast(dtype, operand_dtype, operands[0], single);
    case Op::kSelect:
      return operands[0].i != 0 ? operands[1] : operands[2];
    case Op::kIsNan:
      return OfInt(std::isnan(operands[0].f));
    default:
      break;
  }
  if (!IsFloat(operand_dtype)) {
    const int64_t second = operands.size() > 1 ? operands[1].i : 0;
    return RoundTo(dtype, OfInt(EvaluateIntegerOp(op, operand_dtype,
                                                  operands[0].i, second)));
  }
  if (op >= Op::kEq && op <= Op::kGe)
    return OfInt(Compare(op, operands[0].f, operands[1].f));
  const double result = EvaluateFloat(op, operands);
  if (!single || operand_dtype == DType::kFloat64) return OfFloat(result);
  return OfFloat(static_cast<float>(result));
}

}  // namespace tilewright

// The meaning of every operation on scalars (expr.h, "Semantics").
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright {
namespace {

Scalar OfFloat(double f) { return Scalar{f, 0}; }
Scalar OfInt(int64_t i) { return Scalar{0, i}; }

// Integers are computed in 64 bits without overflow (unsigned), then wrapped to
// their dtype by the caller.
uint64_t U(int64_t value) { return static_cast<uint64_t>(value); }
int64_t S(uint64_t value) { return static_cast<int64_t>(value); }

int64_t DivideTruncating(bool is_unsigned, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (is_unsigned) return S(U(a) / U(b));
  return b == -1 ? S(0 - U(a)) : a / b;
}

int64_t DivideDown(bool is_unsigned, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (is_unsigned) return S(U(a) / U(b));
  if (b == -1) return S(0 - U(a));
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

int64_t ModuloDown(bool is_unsigned, int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && !is_unsigned)) return 0;
  if (is_unsigned) return S(U(a) % U(b));
  return a % b + ((a % b != 0 && (a < 0) != (b < 0)) ? b : 0);
}

// A negative exponent gives 1 / base^|exponent|, truncated; 0 to a negative
// power is a division by zero and gives 0.
int64_t Power(bool is_unsigned, int64_t base, int64_t exponent) {
  if (!is_unsigned && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, square = U(base);
  for (uint64_t rest = U(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return S(result);
}

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
      return value >= 0x1p64 ? -1 : S(static_cast<uint64_t>(value));
    default:
      break;
  }
  TW_CHECK(false) << "no integer dtype: " << Name(to);
  return 0;
}

Scalar Cast(DType to, DType from, Scalar value, bool single) {
  if (IsFloat(to)) {
    if (!IsFloat(from))
      value = OfFloat(from == DType::kUInt64 ? static_cast<double>(U(value.i))
                                             : static_cast<double>(value.i));
    return single ? RoundTo(to, value) : value;
  }
  return IsFloat(from) ? OfInt(FloatToInt(to, value.f))
                       : RoundTo(to, OfInt(value.i));
}

bool Compare(Op op, DType dtype, Scalar a, Scalar b) {
  const auto compare = [op](auto x, auto y) {
    switch (op) {
      case Op::kEq:
        return x == y;
      case Op::kNe:
        return x != y;
      case Op::kLt:
        return x < y;
      case Op::kLe:
        return x <= y;
      case Op::kGt:
        return x > y;
      default:
        return x >= y;
    }
  };
  if (IsFloat(dtype)) return compare(a.f, b.f);
  return dtype == DType::kUInt64 ? compare(U(a.i), U(b.i)) : compare(a.i, b.i);
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

int64_t EvaluateInt(Op op, DType dtype, absl::Span<const Scalar> x) {
  const bool is_unsigned =
      dtype == DType::kUInt64;  // Narrower unsigned values are never negative
                                // in 64 bits.
  const int64_t a = x[0].i;
  const int64_t b = x.size() > 1 ? x[1].i : 0;
  const bool less = is_unsigned ? U(a) < U(b) : a < b;
  switch (op) {
    case Op::kNeg:
      return S(0 - U(a));
    case Op::kAbs:
      return a < 0 && !is_unsigned ? S(0 - U(a)) : a;
    case Op::kNot:
      return dtype == DType::kBool ? a == 0 : ~a;
    case Op::kAdd:
      return S(U(a) + U(b));
    case Op::kSub:
      return S(U(a) - U(b));
    case Op::kMul:
      return S(U(a) * U(b));
    case Op::kDiv:
      return DivideTruncating(is_unsigned, a, b);
    case Op::kFloorDiv:
      return DivideDown(is_unsigned, a, b);
    case Op::kFloorMod:
      return ModuloDown(is_unsigned, a, b);
    case Op::kPow:
      return Power(is_unsigned, a, b);
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
      break;
  }
  TW_CHECK(false) << "operation " << Name(op) << " has no meaning on integers";
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
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      return OfInt(Compare(op, operand_dtype, operands[0], operands[1]));
    default:
      break;
  }
  if (!IsFloat(operand_dtype))
    return RoundTo(dtype, OfInt(EvaluateInt(op, operand_dtype, operands)));
  const double result = EvaluateFloat(op, operands);
  if (!single || operand_dtype == DType::kFloat64) return OfFloat(result);
  return OfFloat(static_cast<float>(result));
}

}  // namespace tilewright

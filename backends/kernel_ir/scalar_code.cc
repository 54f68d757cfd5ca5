#include "backends/kernel_ir/scalar_code.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tilegraph/expr/interval.h"
#include "tilegraph/expr/scalar_bytes.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::kernel_ir::internal {
namespace {

// Any operation, by the definition of tilegraph/interpret/interpreter.h.
const Code* Slow(Machine& m, const Code* c) {
  const int operands = c->op == Op::kSelect ? 3 : c->op >= Op::kAdd ? 2 : 1;
  Scalar in[3];
  for (int lane = 0; lane < c->lanes; ++lane) {
    in[0] =
        ReadLane(m.regs + c->a,
                 c->op == Op::kSelect ? DType::kBool : c->operand_dtype, lane);
    if (operands > 1) in[1] = ReadLane(m.regs + c->b, c->operand_dtype, lane);
    if (operands > 2) in[2] = ReadLane(m.regs + c->c, c->operand_dtype, lane);
    WriteLane(m.regs + c->dst, c->dtype, lane,
              EvaluateOp(c->op, c->dtype, c->operand_dtype,
                         {in, static_cast<size_t>(operands)}, true));
  }
  return c + 1;
}

template <typename T, typename R, typename F>
const Code* Binary(Machine& m, const Code* c) {
  const char* a = m.regs + c->a;
  const char* b = m.regs + c->b;
  char* dst = m.regs + c->dst;
  for (int i = 0; i < c->lanes; ++i)
    Put<R>(dst, i, F()(At<T>(a, i), At<T>(b, i)));
  return c + 1;
}
template <typename T, typename R, typename F>
const Code* Unary(Machine& m, const Code* c) {
  const char* a = m.regs + c->a;
  char* dst = m.regs + c->dst;
  for (int i = 0; i < c->lanes; ++i) Put<R>(dst, i, F()(At<T>(a, i)));
  return c + 1;
}
template <typename T>
const Code* Select(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    Put<T>(m.regs + c->dst, i,
           At<T>(m.regs + (m.regs[c->a + i] != 0 ? c->b : c->c), i));
  }
  return c + 1;
}
template <typename T>
const Code* FusedMultiplyAdd(Machine& m, const Code* c) {
  for (int i = 0; i < c->lanes; ++i) {
    Put<T>(m.regs + c->dst, i,
           std::fma(At<T>(m.regs + c->a, i), At<T>(m.regs + c->b, i),
                    At<T>(m.regs + c->c, i)));
  }
  return c + 1;
}

template <typename T>
const Code* Scale(Machine& m, const Code* c) {
  // Beyond these every number is 0 or infinite.
  constexpr T kMost = 4 * std::numeric_limits<T>::max_exponent;
  for (int i = 0; i < c->lanes; ++i) {
    const T a = At<T>(m.regs + c->a, i), n = At<T>(m.regs + c->b, i);
    Put<T>(m.regs + c->dst, i,
           std::isnan(n) ? n
                         : std::ldexp(a, static_cast<int>(std::floor(
                                             std::clamp(n, -kMost, kMost)))));
  }
  return c + 1;
}

// Integers wrap: computed without sign.
template <typename T, bool = std::is_integral_v<T>>
struct Wrapping {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
struct Wrapping<T, false> {
  using Type = T;
};
template <typename T>
using W = typename Wrapping<T>::Type;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<W<T>>(a) + static_cast<W<T>>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<W<T>>(a) - static_cast<W<T>>(b));
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<W<T>>(a) * static_cast<W<T>>(b));
  }
};
struct FloatDiv {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct FloorDivInt {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(FloorDivide(a, b));
  }
};
struct FloorModInt {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(FloorModulo(a, b));
  }
};
struct Eq {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <typename T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Not {
  bool operator()(bool a) const { return !a; }
};
struct Neg {
  template <typename T>
  T operator()(T a) const {
    return -a;
  }
};
struct Sqrt {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

// NaN if either side is; -0 below +0.
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};

template <typename T>
Step Arithmetic(Op op) {
  switch (op) {
    case Op::kAdd:
      return Binary<T, T, Add>;
    case Op::kSub:
      return Binary<T, T, Sub>;
    case Op::kMul:
      return Binary<T, T, Mul>;
    case Op::kMax:
      return Binary<T, T, Max>;
    case Op::kMin:
      return Binary<T, T, Min>;
    case Op::kEq:
      return Binary<T, bool, Eq>;
    case Op::kNe:
      return Binary<T, bool, Ne>;
    case Op::kLt:
      return Binary<T, bool, Lt>;
    case Op::kLe:
      return Binary<T, bool, Le>;
    case Op::kGt:
      return Binary<T, bool, Gt>;
    case Op::kGe:
      return Binary<T, bool, Ge>;
    case Op::kSelect:
      return Select<T>;
    default:
      return Slow;
  }
}

template <typename T>
Step FloatStep(Op op) {
  switch (op) {
    case Op::kDiv:
      return Binary<T, T, FloatDiv>;
    case Op::kNeg:
      return Unary<T, T, Neg>;
    case Op::kSqrt:
      return Unary<T, T, Sqrt>;
    default:
      return Arithmetic<T>(op);
  }
}

template <typename T>
Step IntStep(Op op) {
  switch (op) {
    case Op::kFloorDiv:
      return Binary<T, T, FloorDivInt>;
    case Op::kFloorMod:
      return Binary<T, T, FloorModInt>;
    default:
      return Arithmetic<T>(op);
  }
}

Step BoolStep(Op op) {
  switch (op) {
    case Op::kAnd:
      return Binary<bool, bool, And>;
    case Op::kOr:
      return Binary<bool, bool, Or>;
    case Op::kNot:
      return Unary<bool, bool, Not>;
    case Op::kSelect:
      return Select<bool>;
    default:
      return Slow;
  }
}

}  // namespace

Step StepFor(Op op, DType dtype, DType operand_dtype) {
  (void)dtype;
  if (op == Op::kCast) return Slow;
  switch (operand_dtype) {
    case DType::kFloat32:
      return FloatStep<float>(op);
    case DType::kFloat64:
      return FloatStep<double>(op);
    case DType::kInt64:
      return IntStep<int64_t>(op);
    case DType::kInt32:
      return IntStep<int32_t>(op);
    case DType::kBool:
      return BoolStep(op);
    default:
      return Slow;
  }
}

Step FmaStepFor(DType dtype) {
  return dtype == DType::kFloat64 ? FusedMultiplyAdd<double>
                                  : FusedMultiplyAdd<float>;
}

Step ScaleStepFor(DType dtype) {
  return dtype == DType::kFloat64 ? Scale<double> : Scale<float>;
}

Scalar ReadLane(const char* reg, DType dtype, int lane) {
  return ReadScalar(dtype, reg + lane * SizeBytes(dtype));
}

void WriteLane(char* reg, DType dtype, int lane, Scalar value) {
  WriteScalar(dtype, value, reg + lane * SizeBytes(dtype));
}

}  // namespace tilewright::kernel_ir::internal

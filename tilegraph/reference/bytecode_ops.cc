#include "tilegraph/reference/bytecode_ops.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/integer_op.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/reference/wide_vectors.h"

namespace tilewright::reference_internal {
namespace {

// max and min as expressions define them: NaN wins, -0 is below +0.
inline double Max(double a, double b) {
  if (a != a || b != b) return a != a ? a : b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline double Min(double a, double b) {
  if (a != a || b != b) return a != a ? a : b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// The bound of max(a, b), or, with `sign` -1, of min: one side alone decides
// where the errors that a kernel is allowed cannot make the other one win.
inline double SelectedBound(double sign, double a, double ea, double b,
                            double eb) {
  const double apart = sign * (a - b), reach = kBoundFactor * (ea + eb);
  if (apart > reach) return ea;
  if (-apart > reach) return eb;
  return std::max(ea, eb);
}

TILEWRIGHT_WIDE_VECTORS
void Multiply(const double* a, const double* b, int count, double* product) {
  for (int l = 0; l < count; ++l) product[l] = a[l] * b[l];
}

TILEWRIGHT_WIDE_VECTORS
void RoundingOf(const double* values, double unit, int count, double* bounds) {
  for (int l = 0; l < count; ++l) bounds[l] = Rounding(values[l], unit);
}

void Arithmetic(const BytecodeInst& inst, const OpOperands& in, bool exact,
                Lanes out, int n) {
  const double *a = in.lanes[0].v, *b = in.lanes[1].v, *ea = in.lanes[0].e,
               *eb = in.lanes[1].e;
  const double u = inst.unit;
  double *v = out.v, *e = out.e;
  switch (inst.op) {
    case Op::kAdd:
      for (int l = 0; l < n; ++l) v[l] = a[l] + b[l];
      if (!exact)
        for (int l = 0; l < n; ++l) e[l] = ea[l] + eb[l] + Rounding(v[l], u);
      return;
    case Op::kSub:
      for (int l = 0; l < n; ++l) v[l] = a[l] - b[l];
      if (!exact)
        for (int l = 0; l < n; ++l) e[l] = ea[l] + eb[l] + Rounding(v[l], u);
      return;
    case Op::kMul:
      Multiply(a, b, n, v);
      if (exact) return;
      if (in.exact[0] && in.exact[1]) {
        RoundingOf(v, u, n, e);
      } else {
        for (int l = 0; l < n; ++l)
          e[l] = Scaled(eb[l], a[l]) + Scaled(ea[l], b[l]) + ea[l] * eb[l] +
                 Rounding(v[l], u);
      }
      return;
    case Op::kDiv:
      for (int l = 0; l < n; ++l) v[l] = a[l] / b[l];
      if (exact) return;
      for (int l = 0; l < n; ++l) {
        const double room = std::fabs(b[l]) - eb[l];
        const bool certain = eb[l] == 0;
        e[l] = certain ? OrInfinity(ea[l] == 0 ? 0 : ea[l] / std::fabs(b[l])) +
                             Rounding(v[l], u)
               : room > 0
                   ? (ea[l] + Scaled(eb[l], v[l])) / room + Rounding(v[l], u)
                   : kInfinity;
      }
      return;
    case Op::kMax:
      for (int l = 0; l < n; ++l) v[l] = Max(a[l], b[l]);
      if (!exact)
        for (int l = 0; l < n; ++l)
          e[l] = SelectedBound(1, a[l], ea[l], b[l], eb[l]);
      return;
    case Op::kMin:
      for (int l = 0; l < n; ++l) v[l] = Min(a[l], b[l]);
      if (!exact)
        for (int l = 0; l < n; ++l)
          e[l] = SelectedBound(-1, a[l], ea[l], b[l], eb[l]);
      return;
    default:
      TW_CHECK(false) << Name(inst.op);
  }
}

void FloatUnary(const BytecodeInst& inst, const OpOperands& in, bool exact,
                Lanes out, int n) {
  const double *a = in.lanes[0].v, *ea = in.lanes[0].e;
  for (int l = 0; l < n; ++l) {
    const Bounded r =
        UnaryFunction(inst.op, {a[l], in.exact[0] ? 0 : ea[l]}, inst.unit);
    out.v[l] = r.v;
    if (!exact) out.e[l] = r.e;
  }
}

void FloatCompare(const BytecodeInst& inst, const OpOperands& in, bool exact,
                  Lanes out, int n) {
  const double *a = in.lanes[0].v, *b = in.lanes[1].v;
  for (int l = 0; l < n; ++l) out.i[l] = Compare(inst.op, a[l], b[l]);
  if (exact) return;
  for (int l = 0; l < n; ++l) {
    const double e = kBoundFactor * (in.lanes[0].e[l] + in.lanes[1].e[l]);
    out.e[l] = e > 0 && !(std::fabs(a[l] - b[l]) > e) ? 1 : 0;
  }
}

void Select(const BytecodeInst& inst, const OpOperands& in, bool exact,
            Lanes out, int n) {
  const int64_t* c = in.lanes[0].i;
  const Lanes &x = in.lanes[1], &y = in.lanes[2];
  if (IsFloat(inst.dtype)) {
    for (int l = 0; l < n; ++l) out.v[l] = c[l] ? x.v[l] : y.v[l];
  } else {
    for (int l = 0; l < n; ++l) out.i[l] = c[l] ? x.i[l] : y.i[l];
  }
  if (exact) return;
  for (int l = 0; l < n; ++l) {
    if (in.exact[0] || in.lanes[0].e[l] == 0) {
      out.e[l] = c[l] ? x.e[l] : y.e[l];
      continue;
    }
    // Either branch may be taken.
    const double apart = IsFloat(inst.dtype)
                             ? std::fabs(x.v[l] - y.v[l])
                             : std::fabs(static_cast<double>(x.i[l]) -
                                         static_cast<double>(y.i[l]));
    out.e[l] = OrInfinity(std::max(x.e[l], y.e[l]) +
                          (x.v != nullptr && x.v[l] == y.v[l] ? 0 : apart));
  }
}

template <Op op>
void IntegerLanes(const int64_t* a, const int64_t* b, int n, int64_t* out) {
  for (int l = 0; l < n; ++l)
    out[l] = EvaluateIntegerOp(op, DType::kInt64, a[l], b[l]);
}

// int64 lanes hold values of narrower types sign- or zero-extended; EvaluateOp
// wraps. What conditions of indices are made of runs in vectors.
void IntegerOp(const BytecodeInst& inst, const OpOperands& in, Lanes out,
               int n) {
  const int64_t *a = in.lanes[0].i, *b = in.lanes[1].i;
  if (inst.operand_dtype == DType::kInt64 ||
      inst.operand_dtype == DType::kBool) {
    switch (inst.op) {
      case Op::kLt:
        return IntegerLanes<Op::kLt>(a, b, n, out.i);
      case Op::kLe:
        return IntegerLanes<Op::kLe>(a, b, n, out.i);
      case Op::kGt:
        return IntegerLanes<Op::kGt>(a, b, n, out.i);
      case Op::kGe:
        return IntegerLanes<Op::kGe>(a, b, n, out.i);
      case Op::kEq:
        return IntegerLanes<Op::kEq>(a, b, n, out.i);
      case Op::kAnd:
        return IntegerLanes<Op::kAnd>(a, b, n, out.i);
      case Op::kOr:
        return IntegerLanes<Op::kOr>(a, b, n, out.i);
      default:
        break;
    }
  }
  Scalar operands[3];
  for (int l = 0; l < n; ++l) {
    for (int k = 0; k < inst.num_operands; ++k)
      operands[k].i = in.lanes[k].i[l];
    out.i[l] =
        EvaluateOp(inst.op, inst.dtype, inst.operand_dtype,
                   absl::MakeConstSpan(operands, inst.num_operands), false)
            .i;
  }
}

// Bounds of integers come from floats that were cast; few operations keep them
// finite.
void IntegerBounds(const BytecodeInst& inst, const OpOperands& in, Lanes out,
                   int n) {
  for (int l = 0; l < n; ++l) {
    const double ea = in.lanes[0].e[l],
                 eb = inst.num_operands > 1 ? in.lanes[1].e[l] : 0;
    if (ea == 0 && eb == 0) {
      out.e[l] = 0;
      continue;
    }
    const double a = static_cast<double>(in.lanes[0].i[l]),
                 b = inst.num_operands > 1
                         ? static_cast<double>(in.lanes[1].i[l])
                         : 0;
    switch (inst.op) {
      case Op::kNeg:
      case Op::kAbs:
        out.e[l] = ea;
        break;
      case Op::kAdd:
      case Op::kSub:
        out.e[l] = ea + eb;
        break;
      case Op::kMul:
        out.e[l] = Scaled(eb, a) + Scaled(ea, b) + ea * eb;
        break;
      case Op::kMax:
      case Op::kMin:
        out.e[l] = std::max(ea, eb);
        break;
      case Op::kNot:
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
        out.e[l] = inst.dtype == DType::kBool ? 1 : kInfinity;
        break;
      case Op::kEq:
      case Op::kNe:
      case Op::kLt:
      case Op::kLe:
      case Op::kGt:
      case Op::kGe:
        out.e[l] = std::fabs(a - b) > kBoundFactor * (ea + eb) ? 0 : 1;
        break;
      default:
        out.e[l] = kInfinity;
    }
  }
}

// Whether an integer type holds all integers near `value`.
bool Holds(DType dtype, double value) {
  const int bits = 8 * static_cast<int>(SizeBytes(dtype));
  const bool is_unsigned = dtype >= DType::kUInt8 && dtype <= DType::kUInt64;
  return dtype != DType::kBool &&
         value > (is_unsigned ? -1 : -std::ldexp(1.0, bits - 1)) &&
         value < std::ldexp(1.0, is_unsigned ? bits : bits - 1);
}

void Cast(const BytecodeInst& inst, const OpOperands& in, bool exact, Lanes out,
          int n) {
  const bool from_float = IsFloat(inst.operand_dtype),
             to_float = IsFloat(inst.dtype);
  const Lanes& a = in.lanes[0];
  const auto convert = [&](double v) {
    const Scalar operand{v, 0};
    return static_cast<double>(
        EvaluateOp(Op::kCast, inst.dtype, inst.operand_dtype,
                   absl::MakeConstSpan(&operand, 1), false)
            .i);
  };
  for (int l = 0; l < n; ++l) {
    const double ea = in.exact[0] ? 0 : a.e[l];
    double e = 0;
    if (from_float && to_float) {
      out.v[l] = a.v[l];  // the reference stays in double
      e = ea + Rounding(out.v[l], inst.unit);
    } else if (to_float) {
      const bool is_unsigned = inst.operand_dtype == DType::kUInt64;
      out.v[l] = is_unsigned
                     ? static_cast<double>(static_cast<uint64_t>(a.i[l]))
                     : static_cast<double>(a.i[l]);
      e = ea + std::fabs(out.v[l] - RoundTo(inst.dtype, Scalar{out.v[l], 0}).f);
    } else if (from_float) {
      const Scalar operand{a.v[l], 0};
      out.i[l] = EvaluateOp(Op::kCast, inst.dtype, inst.operand_dtype,
                            absl::MakeConstSpan(&operand, 1), false)
                     .i;
      e = Jump(convert, a.v[l], ea);
    } else {
      const Scalar operand{0, a.i[l]};
      out.i[l] = EvaluateOp(Op::kCast, inst.dtype, inst.operand_dtype,
                            absl::MakeConstSpan(&operand, 1), false)
                     .i;
      // Where no value that it may be is cut off, the error stays what it is.
      const double v = static_cast<double>(a.i[l]);
      e = ea == 0 || (Holds(inst.dtype, v - kBoundFactor * ea) &&
                      Holds(inst.dtype, v + kBoundFactor * ea))
              ? ea
              : kInfinity;
    }
    if (!exact) out.e[l] = OrInfinity(e);
  }
}

}  // namespace

void RunBytecodeOp(const BytecodeInst& inst, const OpOperands& in, bool exact,
                   Lanes out, int n) {
  switch (inst.op) {
    case Op::kSelect:
      return Select(inst, in, exact, out, n);
    case Op::kCast:
      return Cast(inst, in, exact, out, n);
    case Op::kIsNan:
      for (int l = 0; l < n; ++l)
        out.i[l] = in.lanes[0].v[l] != in.lanes[0].v[l];
      if (!exact) std::fill_n(out.e, n, 0.0);
      return;
    case Op::kPow:
      if (!IsFloat(inst.dtype)) break;
      for (int l = 0; l < n; ++l) {
        const Bounded r = Power(
            {in.lanes[0].v[l], in.exact[0] ? 0 : in.lanes[0].e[l]},
            {in.lanes[1].v[l], in.exact[1] ? 0 : in.lanes[1].e[l]}, inst.unit);
        out.v[l] = r.v;
        if (!exact) out.e[l] = r.e;
      }
      return;
    default:
      break;
  }
  if (IsFloat(inst.dtype)) {
    return inst.num_operands == 1 ? FloatUnary(inst, in, exact, out, n)
                                  : Arithmetic(inst, in, exact, out, n);
  }
  if (IsFloat(inst.operand_dtype)) return FloatCompare(inst, in, exact, out, n);
  IntegerOp(inst, in, out, n);
  if (!exact) IntegerBounds(inst, in, out, n);
}

}  // namespace tilewright::reference_internal

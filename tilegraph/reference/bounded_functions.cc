#include "tilegraph/reference/bounded_functions.h"

#include "base/check.h"

namespace tilewright::reference_internal {
namespace {

// Below 2^-126 numbers of fp32 are this far apart, whatever their size.
constexpr double kSubnormal = 0x1p-149;

// What a function errs by itself: so many units of its result, and where that
// is small one of the smallest numbers.
double OwnError(double v, double units) {
  const double e = Rounding(v, units);
  return v != 0 && std::fabs(v) < 1 ? e + kSubnormal : e;
}

}  // namespace

// exp, log, tanh, erf and sigmoid err by at most 2 ULP, the others by 4; one
// ULP is at most two units.
Bounded UnaryFunction(Op op, Bounded a, double unit) {
  const double nearest = std::max(
      std::fabs(a.v) - a.e, 0.0);  // smallest magnitude the argument may have
  double v, e;
  switch (op) {
    case Op::kNeg:
      return {-a.v, a.e};
    case Op::kAbs:
      return {std::fabs(a.v), a.e};
    case Op::kFloor:
      return {std::floor(a.v),
              Jump([](double x) { return std::floor(x); }, a.v, a.e)};
    case Op::kCeil:
      return {std::ceil(a.v),
              Jump([](double x) { return std::ceil(x); }, a.v, a.e)};
    case Op::kRound:
      return {std::nearbyint(a.v),
              Jump([](double x) { return std::nearbyint(x); }, a.v, a.e)};
    case Op::kExp:
      v = std::exp(a.v);
      e = (a.e == 0 ? 0 : Scaled(std::expm1(a.e), v)) + OwnError(v, 4 * unit);
      break;
    case Op::kLog:
      v = std::log(a.v);
      e = (a.e == 0    ? 0
           : a.v > a.e ? a.e / (a.v - a.e)
                       : kInfinity) +
          Rounding(v, 4 * unit);
      break;
    case Op::kSqrt:
      v = std::sqrt(a.v);
      e = (a.e == 0 ? 0 : a.e / (v + std::sqrt(std::max(a.v - a.e, 0.0)))) +
          Rounding(v, unit);
      break;
    case Op::kTanh: {
      v = std::tanh(a.v);
      const double slope = 1 - std::tanh(nearest) * std::tanh(nearest);
      e = Scaled(a.e, slope) + OwnError(v, 4 * unit);
      break;
    }
    case Op::kErf:
      v = std::erf(a.v);
      e = Scaled(a.e, 2 / std::sqrt(M_PI) * std::exp(-nearest * nearest)) +
          OwnError(v, 4 * unit);
      break;
    case Op::kSigmoid: {
      const auto sigmoid = [](double x) {
        return x >= 0 ? 1 / (1 + std::exp(-x))
                      : std::exp(x) / (1 + std::exp(x));
      };
      v = sigmoid(a.v);
      e = Scaled(a.e, sigmoid(nearest) * sigmoid(-nearest)) +
          OwnError(v, 4 * unit);
      break;
    }
    case Op::kSin:
      v = std::sin(a.v);
      e = a.e + OwnError(v, 8 * unit);
      break;
    case Op::kCos:
      v = std::cos(a.v);
      e = a.e + OwnError(v, 8 * unit);
      break;
    default:
      TW_CHECK(false) << Name(op);
      return {};
  }
  return {v, OrInfinity(e)};
}

Bounded Power(Bounded a, Bounded b, double unit) {
  const double v = std::pow(a.v, b.v);
  double e = OwnError(v, 8 * unit);
  if (a.e > 0 || b.e > 0) {
    const double room = std::fabs(a.v) - a.e;
    if (room <= 0) return {v, kInfinity};
    e += Scaled(std::expm1((std::fabs(b.v) + b.e) * a.e / room +
                           std::fabs(std::log(std::fabs(a.v))) * b.e),
                v);
  }
  return {v, OrInfinity(e)};
}

}  // namespace tilewright::reference_internal

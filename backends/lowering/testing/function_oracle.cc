#include "backends/lowering/testing/function_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tilewright::lowering {
namespace {

template <typename T>
T Reference(Op op, T x, T y) {
  switch (op) {
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kTanh:
      return std::tanh(x);
    case Op::kErf:
      return std::erf(x);
    case Op::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Op::kSin:
      return std::sin(x);
    case Op::kCos:
      return std::cos(x);
    case Op::kPow:
      return std::pow(x, y);
    default:
      break;
  }
  TW_CHECK(false) << "no function: " << Name(op);
  return 0;
}

template <typename T, typename Wide>
double Error(T got, Wide want) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  const T rounded = static_cast<T>(want);
  if (got == rounded)
    return got != 0 || std::signbit(got) == std::signbit(rounded) ? 0 : kWrong;
  if (std::isinf(want) || std::signbit(got) != std::signbit(rounded))
    return kWrong;
  // Beyond the largest number, infinity counts as the next power of two.
  const Wide value =
      std::isinf(got)
          ? std::copysign(std::ldexp(Wide{1}, Limits::max_exponent), want)
          : Wide{got};
  const int exponent = want == 0 ? Limits::min_exponent : std::ilogb(want) + 1;
  const int place = std::clamp(exponent, int{Limits::min_exponent},
                               int{Limits::max_exponent}) -
                    Limits::digits;
  return static_cast<double>(std::ldexp(std::fabs(value - want), -place));
}

}  // namespace

double UlpBound(Op op) {
  return op == Op::kSin || op == Op::kCos || op == Op::kPow ? 4 : 2;
}

double FunctionReference(Op op, double x, double y) {
  return Reference(op, x, y);
}
long double FunctionReference(Op op, long double x, long double y) {
  // The powl of glibc 2.36 says that (-inf)^(-2^63) is infinite.
  if (op == Op::kPow && std::isinf(x))
    return std::pow(static_cast<double>(x), static_cast<double>(y));
  return Reference(op, x, y);
}
double UlpError(float got, double want) { return Error(got, want); }
double UlpError(double got, long double want) { return Error(got, want); }

template <typename T>
std::vector<T> SpecialArguments() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> positive = {0,
                             Limits::denorm_min(),
                             Limits::min(),
                             Limits::epsilon(),
                             Limits::max(),
                             Limits::infinity(),
                             Limits::quiet_NaN()};
  const auto around = [&](T value) {
    const T above = std::nextafter(value, Limits::infinity());
    const T below = std::nextafter(value, T{0});
    positive.insert(positive.end(), {value, above, below,
                                     std::nextafter(above, Limits::infinity()),
                                     std::nextafter(below, T{0})});
  };
  around(Limits::min());
  for (int i = 1; i <= 64; ++i) {
    around(static_cast<T>(i));
    around(static_cast<T>(i) / 2);
    around(static_cast<T>(i * 1.57079632679489661923L));
    around(static_cast<T>((i - 0.5) * 0.0433216987849965827L));
  }
  for (T value :
       {0.625, 0.6666666666666666, 1.3333333333333333, 0.6931471805599453,
        87.33654475, 88.72283905, 103.972077, 708.396418532264,
        709.782712893384, 745.133219101941, 6400.0, 32768.0, 0x1p20, 0x1p23,
        0x1p24, 0x1p31, 0x1p52, 0x1p53, 0x1p63}) {
    around(value);
  }
  for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent;
       ++e)
    positive.push_back(std::ldexp(T{1}, e));
  std::vector<T> values = positive;
  for (T value : positive) values.push_back(-value);
  return values;
}

template std::vector<float> SpecialArguments();
template std::vector<double> SpecialArguments();

}  // namespace tilewright::lowering

// Internal to the reference: functions of a value that may be off by a bound,
// and the bound of the result (running error analysis).
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_BOUNDED_FUNCTIONS_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_BOUNDED_FUNCTIONS_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilegraph/expr/expr.h"

namespace tilewright {

// An element may err by this many times its bound.
inline constexpr double kBoundFactor = 4;

namespace reference_internal {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One rounding of v. An infinite result is what it is.
inline double Rounding(double v, double unit) {
  const double r = unit * std::fabs(v);
  return r < kInfinity ? r : 0;
}
// 0 · inf: an exact factor adds no error, however large the other is.
inline double Scaled(double e, double by) {
  const double r = e * std::fabs(by);
  return r == r ? r : 0;
}
inline double OrInfinity(double e) { return e == e ? e : kInfinity; }

// The change of a step function when its argument moves by the error a kernel
// is allowed.
template <typename F>
double Jump(F f, double v, double e) {
  if (e == 0) return 0;
  const double here = f(v);
  return OrInfinity(std::max(std::fabs(f(v + kBoundFactor * e) - here),
                             std::fabs(f(v - kBoundFactor * e) - here)));
}

// The bound of f(a): its own error in ULP, and what `e` makes of it. `unit`:
// the relative error of one rounding.
struct Bounded {
  double v;
  double e;
};
Bounded UnaryFunction(Op op, Bounded a, double unit);
Bounded Power(Bounded a, Bounded b, double unit);

}  // namespace reference_internal
}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_BOUNDED_FUNCTIONS_H_

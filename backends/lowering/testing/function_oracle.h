// The expected results of functions, for tests: the C library in the next wider
// type.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_FUNCTION_ORACLE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_FUNCTION_ORACLE_H_

#include <vector>

#include "tilegraph/expr/expr.h"

namespace tilewright::lowering {

// The functions ExpandFunctions replaces, unary ones first.
inline constexpr Op kFunctions[] = {Op::kExp, Op::kLog,     Op::kTanh,
                                    Op::kErf, Op::kSigmoid, Op::kSin,
                                    Op::kCos, Op::kPow};

// The bound promised in docs/numerics.md.
double UlpBound(Op op);

// `y` is used by pow alone.
double FunctionReference(Op op, double x, double y = 0);
long double FunctionReference(Op op, long double x, long double y = 0);

// |got - want| in units of the last place of `want` rounded to got's type; 0 if
// `got` is that rounded value. Infinite if one is NaN and the other not, or if
// zeros or infinities differ in sign.
double UlpError(float got, double want);
double UlpError(double got, long double want);

// Zeros, infinities, NaN, denormals, extremes, small integers, halves, and what
// lies next to multiples of pi / 2, half way between multiples of ln 2 / 16,
// and next to the places where functions change their method, of both signs.
template <typename T>
std::vector<T> SpecialArguments();

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_FUNCTION_ORACLE_H_

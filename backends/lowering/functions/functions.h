// Each function of one float argument (pow: two) as instructions. One file per
// group: exponential.cc (exp, sigmoid, tanh), logarithm.cc, error_function.cc,
// trigonometric.cc, power.cc. Coefficients are minimax fits (Remez) of the
// expression named beside them, our own.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_FUNCTIONS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_FUNCTIONS_H_

#include "backends/lowering/functions/value.h"

namespace tilewright::lowering::functions {

Value Exp(Value x);
Value Log(Value x);
Value Tanh(Value x);
Value Erf(Value x);
Value Sigmoid(Value x);
Value Sin(Value x);
Value Cos(Value x);
Value Pow(Value x, Value y);

// e^x where the result is a normal number, or x is NaN.
Value ExpOfMiddle(Value x);

}  // namespace tilewright::lowering::functions

#endif  // TILEWRIGHT_BACKENDS_LOWERING_FUNCTIONS_FUNCTIONS_H_

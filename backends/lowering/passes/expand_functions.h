// The functions that machines have no instruction for, written in operations
// they have: one definition for all backends.
//
// exp, log, tanh, erf, sigmoid, sin, cos and pow, of f32 and f64, become
// polynomials and bit tricks over the whole range of arguments: NaN,
// infinities, zeros of both signs and denormals give what EvaluateOp gives.
// Errors and how they are checked: docs/numerics.md.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_PASSES_EXPAND_FUNCTIONS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_PASSES_EXPAND_FUNCTIONS_H_

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::lowering {

struct FunctionOptions {
  bool fma = true;     // the target has fused multiply-add; without it the same
                       // bounds hold, the bits differ
  bool scale = false;  // it multiplies by powers of two in one instruction (the
                       // same bits)
  bool lookup = false;  // it reads tables of 16 floats in one instruction: erf
                        // of f32 and, with scale, what is made of exp take
                        // less time, to other bits
};

// A pass on the scalar tier: afterwards no OpInst has a transcendental function
// (IsTranscendental) of floats. Integer pow stays. Constants are defined once,
// at the start of the body.
void ExpandFunctions(kernel_ir::ScalarKernel& kernel,
                     const FunctionOptions& options = {});

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_PASSES_EXPAND_FUNCTIONS_H_

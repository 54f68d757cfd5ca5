// Activation functions as expressions: those that are nodes of their own and
// those that recurrent networks name in attributes.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_ACTIVATION_ACTIVATION_FUNCTIONS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_ACTIVATION_ACTIVATION_FUNCTIONS_H_

#include "tilegraph/expr/expr.h"

namespace tilewright {

// x < bound ? then : otherwise.
Expr IfBelow(const Expr& x, double bound, const Expr& then,
             const Expr& otherwise);
// Between `least` and `most`.
Expr Clamp(const Expr& x, double least, double most);

Expr Relu(const Expr& x);
Expr LeakyRelu(const Expr& x, double alpha);
Expr Elu(const Expr& x, double alpha);
Expr HardSigmoid(const Expr& x, double alpha, double beta);
Expr Softplus(const Expr& x);
Expr Softsign(const Expr& x);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_ACTIVATION_ACTIVATION_FUNCTIONS_H_

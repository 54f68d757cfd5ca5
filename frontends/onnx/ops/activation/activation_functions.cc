#include "frontends/onnx/ops/activation/activation_functions.h"

#include "frontends/onnx/graph/import_context.h"

namespace tilewright {
namespace {

Expr AtLeast(const Expr& x, double bound) {
  return Binary(Op::kMax, x, Literal(x.dtype(), bound));
}

}  // namespace

Expr IfBelow(const Expr& x, double bound, const Expr& then,
             const Expr& otherwise) {
  return SelectExpr(Binary(Op::kLt, x, Literal(x.dtype(), bound)), then,
                    otherwise);
}

Expr Clamp(const Expr& x, double least, double most) {
  return AtLeast(Binary(Op::kMin, x, Literal(x.dtype(), most)), least);
}

Expr Relu(const Expr& x) { return AtLeast(x, 0); }

Expr LeakyRelu(const Expr& x, double alpha) {
  return IfBelow(x, 0, Mul(x, alpha), x);
}

Expr Elu(const Expr& x, double alpha) {
  return IfBelow(x, 0, Mul(Add(Unary(Op::kExp, x), -1), alpha), x);
}

Expr HardSigmoid(const Expr& x, double alpha, double beta) {
  return Clamp(Add(Mul(x, alpha), beta), 0, 1);
}

Expr Softplus(const Expr& x) {
  const Expr decay = Unary(Op::kExp, Unary(Op::kNeg, Unary(Op::kAbs, x)));
  return Add(Relu(x), Unary(Op::kLog, Add(decay, 1)));
}

Expr Softsign(const Expr& x) { return Div(x, Add(Unary(Op::kAbs, x), 1)); }

}  // namespace tilewright

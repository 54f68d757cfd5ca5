#include "tilegraph/expr/normal_exp.h"

#include <limits>

#include "tilegraph/expr/dtype.h"

namespace tilewright {

Expr NormalExp(const Expr& x) {
  const DType dtype = x.dtype();
  // 2^-126 is e^-87.3, 2^-1022 e^-708.4.
  const Expr least = Expr::Float(dtype == DType::kFloat64 ? -708 : -87, dtype);
  const Expr zero_from =
      Expr::Float(-std::numeric_limits<double>::infinity(), dtype);
  return Expr::Make(
      Op::kExp, {Expr::Make(Op::kSelect,
                            {Expr::Make(Op::kLt, {x, least}), zero_from, x})});
}

Expr ExponentOf(const Expr& e) {
  if (e.op() != Op::kExp) return Expr();
  const Expr exponent = e.operand(0);
  if (exponent.op() == Op::kSelect && NormalExp(exponent.operand(2)) == e)
    return exponent.operand(2);
  return exponent;
}

}  // namespace tilewright

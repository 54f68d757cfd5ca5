#include "tilegraph/ir/operations.h"

#include <algorithm>

namespace tilewright {

int64_t ValueOperations(const Expr& body) {
  if (body.op() == Op::kLoad) return 0;  // its indices are address arithmetic
  if (body.op() == Op::kSelect) {
    return 1 + ValueOperations(body.operand(0)) +
           std::max(ValueOperations(body.operand(1)),
                    ValueOperations(body.operand(2)));
  }
  int64_t count = 0;
  for (const Expr& operand : body.operands()) count += ValueOperations(operand);
  const bool leaf = body.op() == Op::kConst || body.op() == Op::kVar;
  return leaf || body.op() == Op::kCast ? count : count + 1;
}

int64_t TermsOf(const Compute& compute) {
  int64_t terms = 1;
  for (const Axis& axis : compute.reduce_axes) terms *= axis.extent.value();
  return terms;
}

int64_t Points(const Tensor& compute) {
  return compute.num_elements() * TermsOf(compute.compute);
}

int64_t OperationsPerPoint(const Compute& compute) {
  int64_t count = compute.combiner ? 1 : 0;
  for (const Expr& body : compute.body) count += ValueOperations(body);
  return count;
}

}  // namespace tilewright

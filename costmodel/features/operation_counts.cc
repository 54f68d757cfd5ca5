#include "costmodel/features/operation_counts.h"

#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright::costmodel {
namespace {

bool IsProduct(const Expr& expr) { return expr.op() == Op::kMul; }

void CountNumbers(const Expr& expr, ArithmeticCounts& counts) {
  switch (expr.op()) {
    case Op::kAdd:
    case Op::kSub:
      if (IsProduct(expr.operand(0)) || IsProduct(expr.operand(1))) {
        // One of the products, counted as one below, is this addition's.
        counts.mad += 1;
        counts.mul -= 1;
      } else {
        counts.add_sub += 1;
      }
      return;
    case Op::kNeg:
      counts.add_sub += 1;
      return;
    case Op::kMul:
      counts.mul += 1;
      return;
    case Op::kDiv:
    case Op::kFloorDiv:
    case Op::kFloorMod:
      counts.div_mod += 1;
      return;
    case Op::kMax:
    case Op::kMin:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      counts.compare += 1;
      return;
    case Op::kSqrt:
      counts.math += 1;
      return;
    default:
      (IsTranscendental(expr.op()) ? counts.math : counts.other) += 1;
      return;
  }
}

void Count(const Expr& expr, OperationCounts& counts) {
  switch (expr.op()) {
    case Op::kConst:
    case Op::kVar:
    case Op::kLoad:  // and its indices
      return;
    case Op::kCast:
      break;
    case Op::kSelect:
      counts.select += 1;
      break;
    default: {
      const DType dtype = expr.operand(0).dtype();
      if (dtype == DType::kBool) {
        counts.logic += 1;
      } else {
        CountNumbers(expr, IsFloat(dtype) ? counts.floats : counts.integers);
      }
    }
  }
  for (const Expr& operand : expr.operands()) Count(operand, counts);
}

}  // namespace

double OperationCounts::FloatOperations() const {
  return floats.mad + floats.add_sub + floats.mul + floats.div_mod +
         floats.compare + floats.math + floats.other;
}

OperationCounts CountOperations(const sketch::Block& block) {
  OperationCounts counts;
  if (!block.combiner.has_value()) {
    for (const Expr& body : block.body) Count(body, counts);
    return counts;
  }
  // The combined value stands in the combiner's expressions where it is used,
  // so that a sum of products is seen as such; but it is computed once.
  std::vector<Expr> before, step;
  for (int i = 0; i < block.combiner->arity(); ++i) {
    const DType dtype = block.combiner->component_dtype(i);
    before.push_back(Expr::Load(0, dtype, {}));
    const bool is_product = IsProduct(block.body[i]) &&
                            block.combiner->kind() == Combiner::Kind::kSum &&
                            block.body[i].dtype() == dtype;
    step.push_back(is_product ? block.body[i] : Expr::Load(0, dtype, {}));
    if (!is_product) Count(block.body[i], counts);
  }
  for (const Expr& combined : block.combiner->Combine(before, step)) {
    Count(combined, counts);
  }
  if (block.rescaling) Count(block.rescaling, counts);
  return counts;
}

}  // namespace tilewright::costmodel

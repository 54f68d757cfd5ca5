#include "measure/inputs/positive_values.h"

#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright::measure {

bool PositiveValues::IsPositive(const Expr& e, bool strictly) {
  const auto is = [&](int operand) {
    return IsPositive(e.operand(operand), strictly);
  };
  switch (e.op()) {
    case Op::kConst: {
      const double value = IsFloat(e.dtype())
                               ? e.float_value()
                               : static_cast<double>(e.int_value());
      return strictly ? value > 0 : value >= 0;
    }
    case Op::kExp:
    case Op::kSigmoid:
      return true;
    case Op::kAbs:
      return !strictly;
    case Op::kSqrt:
    case Op::kCast:
      return is(0);
    case Op::kMul:
      return (!strictly && e.operand(0) == e.operand(1)) || (is(0) && is(1));
    case Op::kAdd:  // One that is not zero is enough.
      return IsPositive(e.operand(0), false) &&
             IsPositive(e.operand(1), false) && (is(0) || is(1));
    case Op::kDiv:
    case Op::kMin:
      return is(0) && is(1);
    case Op::kMax:
      return is(0) || is(1);
    case Op::kSelect:
      return is(1) && is(2);
    case Op::kLoad:
      return IsPositive(e.source(), strictly);
    default:
      return false;
  }
}

bool PositiveValues::IsPositive(TensorId id, bool strictly) {
  const auto known = known_.find({id, strictly});
  if (known != known_.end()) return known->second;
  const Tensor& tensor = graph_.tensor(id);
  bool result = tensor.kind == TensorKind::kCompute;
  if (result && tensor.compute.combiner) {
    const Combiner::Kind kind = tensor.compute.combiner->kind();
    result = kind == Combiner::Kind::kSum || kind == Combiner::Kind::kProd ||
             kind == Combiner::Kind::kMin;
  }
  result = result && IsPositive(tensor.compute.body[0], strictly);
  return known_[{id, strictly}] = result;
}

}  // namespace tilewright::measure

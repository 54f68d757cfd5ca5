#include "tilegraph/expr/index_eval.h"

#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/integer_op.h"

namespace tilewright {

int64_t EvalIndex(const Expr& e, absl::Span<const int64_t> values,
                  const LoadAt& load) {
  return EvalIndex(
      e, [&](int id) { return values[id]; }, load);
}

int64_t EvalIndex(const Expr& e, const ValueOf& value, const LoadAt& load) {
  auto eval = [&](int i) { return EvalIndex(e.operand(i), value, load); };
  switch (e.op()) {
    case Op::kConst:
      return IsFloat(e.dtype()) ? 0 : e.int_value();
    case Op::kVar:
      return value(e.var_id());
    case Op::kLoad: {
      std::vector<int64_t> index;
      for (size_t i = 0; i < e.operands().size(); ++i) index.push_back(eval(i));
      return load ? load(e, index) : 0;
    }
    case Op::kSelect:
      return eval(0) != 0 ? eval(1) : eval(2);
    default:
      break;
  }
  const DType operand_dtype = e.operand(0).dtype();
  if (IsFloat(e.dtype()) || IsFloat(operand_dtype)) {
    for (size_t i = 0; i < e.operands().size(); ++i) eval(i);
    return 0;
  }
  const int64_t a = eval(0);
  const int64_t b = e.operands().size() > 1 ? eval(1) : 0;
  if (e.op() == Op::kCast) return e.dtype() == DType::kBool ? a != 0 : a;
  return EvaluateIntegerOp(e.op(), operand_dtype, a, b);
}

}  // namespace tilewright

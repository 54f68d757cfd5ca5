#include "tilegraph/expr/index_eval.h"

#include <cstdlib>
#include <vector>

#include "base/check.h"

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
  switch (e.op()) {
    case Op::kNeg:
      return -a;
    case Op::kAbs:
      return std::abs(a);
    case Op::kNot:
      return a == 0;
    case Op::kCast:
      return e.dtype() == DType::kBool ? a != 0 : a;
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
      return b == 0 ? 0 : a / b;
    case Op::kFloorDiv: {
      if (b == 0) return 0;
      int64_t q = a / b;
      return q - (q * b != a && (a < 0) != (b < 0));
    }
    case Op::kFloorMod: {
      if (b == 0) return 0;
      int64_t r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case Op::kMax:
      return a > b ? a : b;
    case Op::kMin:
      return a < b ? a : b;
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kEq:
      return a == b;
    case Op::kNe:
      return a != b;
    case Op::kLt:
      return a < b;
    case Op::kLe:
      return a <= b;
    case Op::kGt:
      return a > b;
    case Op::kGe:
      return a >= b;
    default:
      TW_CHECK(false) << "no integer meaning: " << e.ToString();
  }
  return 0;
}

}  // namespace tilewright

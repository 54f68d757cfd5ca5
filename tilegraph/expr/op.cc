#include "tilegraph/expr/op.h"

#include "base/check.h"

namespace tilewright {
namespace {

struct OpInfo {
  std::string_view name;
  int arity;  // -1: a leaf, never given to Make
};

// In the order of Op.
constexpr OpInfo kOps[] = {
    {"const", -1},  {"var", -1}, {"load", -1}, {"neg", 1},      {"abs", 1},
    {"exp", 1},     {"log", 1},  {"sqrt", 1},  {"tanh", 1},     {"erf", 1},
    {"sigmoid", 1}, {"sin", 1},  {"cos", 1},   {"floor", 1},    {"ceil", 1},
    {"round", 1},   {"not", 1},  {"isnan", 1}, {"cast", -1},    {"add", 2},
    {"sub", 2},     {"mul", 2},  {"div", 2},   {"floordiv", 2}, {"floormod", 2},
    {"pow", 2},     {"max", 2},  {"min", 2},   {"and", 2},      {"or", 2},
    {"xor", 2},     {"eq", 2},   {"ne", 2},    {"lt", 2},       {"le", 2},
    {"gt", 2},      {"ge", 2},   {"select", 3}};
static_assert(sizeof(kOps) / sizeof(kOps[0]) ==
                  static_cast<size_t>(Op::kSelect) + 1,
              "one row per op");

const OpInfo& InfoOf(Op op) {
  const size_t index = static_cast<size_t>(op);
  TW_CHECK(index <= static_cast<size_t>(Op::kSelect)) << "no op " << index;
  return kOps[index];
}

}  // namespace

std::string_view Name(Op op) { return InfoOf(op).name; }

std::optional<Op> ParseOp(std::string_view name) {
  for (size_t i = 0; i <= static_cast<size_t>(Op::kSelect); ++i) {
    if (kOps[i].arity > 0 && kOps[i].name == name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

std::optional<DType> ResultDType(Op op, absl::Span<const DType> operands) {
  const int arity = InfoOf(op).arity;
  if (arity < 0 || static_cast<int>(operands.size()) != arity)
    return std::nullopt;
  const DType first = operands[0];
  if (op == Op::kSelect) {
    if (first != DType::kBool || operands[1] != operands[2])
      return std::nullopt;
    return operands[1];
  }
  if (arity == 2 && first != operands[1]) return std::nullopt;
  const bool number = IsFloat(first) || IsInteger(first);
  bool fits = false;
  switch (op) {
    case Op::kExp:
    case Op::kLog:
    case Op::kSqrt:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSigmoid:
    case Op::kSin:
    case Op::kCos:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kIsNan:
      fits = IsFloat(first);
      break;
    case Op::kNot:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      fits = !IsFloat(first);
      break;
    case Op::kFloorDiv:
    case Op::kFloorMod:
      fits = IsInteger(first);
      break;
    case Op::kMax:
    case Op::kMin:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      fits = true;
      break;
    default:
      fits = number;
  }
  if (!fits) return std::nullopt;
  return (op >= Op::kEq && op <= Op::kGe) || op == Op::kIsNan ? DType::kBool
                                                              : first;
}

bool IsTranscendental(Op op) {
  switch (op) {
    case Op::kExp:
    case Op::kLog:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSigmoid:
    case Op::kSin:
    case Op::kCos:
    case Op::kPow:
      return true;
    default:
      return false;
  }
}

}  // namespace tilewright

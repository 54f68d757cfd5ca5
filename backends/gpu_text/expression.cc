#include "backends/gpu_text/expression.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::gpu_text {
namespace {

// Whether C++ computes the dtype in itself, not in int.
bool IsWhole(DType dtype) { return IsFloat(dtype) || SizeBytes(dtype) >= 4; }

Piece FloatLiteral(DType dtype, double value) {
  if (std::isnan(value) || std::isinf(value)) {
    const std::string type = TypeName(dtype);
    if (std::isnan(value)) return {absl::StrCat("tw_nan<", type, ">()")};
    const std::string infinity = absl::StrCat("tw_infinity<", type, ">()");
    if (value > 0) return {infinity};
    return {"-" + infinity, Level::kUnary};
  }
  std::string text = PrintFloat(value, dtype);
  if (text.find_first_of(".e") == std::string::npos) text += '.';
  if (dtype == DType::kFloat64) {
    if (text.back() == '.') text += '0';
  } else {
    text += 'f';
  }
  return {text, std::signbit(value) ? Level::kUnary : Level::kPrimary};
}

}  // namespace

std::string Piece::Within(Level limit) const {
  return level > limit ? absl::StrCat("(", text, ")") : text;
}

std::string TypeName(DType dtype, int lanes) {
  if (lanes > 1) return absl::StrCat("Vec<", TypeName(dtype), ", ", lanes, ">");
  switch (dtype) {
    case DType::kFloat16:
      return "fp16";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    default:
      return std::string(Name(dtype));
  }
}

Piece Literal(DType dtype, double f, int64_t i, bool typed) {
  if (IsFloat(dtype)) return FloatLiteral(dtype, RoundTo(dtype, {f, 0}).f);
  i = RoundTo(dtype, {0, i}).i;
  if (dtype == DType::kBool) return {i != 0 ? "true" : "false"};
  std::string text;
  if (dtype == DType::kUInt64) {
    text = absl::StrCat(static_cast<uint64_t>(i));
    if (i < 0) text += "u";  // beyond the largest i64
  } else if (i == std::numeric_limits<int64_t>::min()) {
    text = "tw_lowest<i64>()";
  } else if (i == std::numeric_limits<int32_t>::min()) {
    text = dtype == DType::kInt32 ? "tw_lowest<i32>()" : absl::StrCat(i);
  } else {
    text = absl::StrCat(i);
  }
  const bool negative = text[0] == '-';
  if (dtype == DType::kUInt32) return {text + "u"};
  if (typed && dtype != DType::kInt32)
    return {absl::StrCat("(", TypeName(dtype), ")", text), Level::kUnary};
  return {text, negative ? Level::kUnary : Level::kPrimary};
}

Piece Call(const std::string& function, const std::vector<Piece>& arguments) {
  std::string text = function + "(";
  for (size_t i = 0; i < arguments.size(); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ", ", arguments[i].text);
  return {text + ")"};
}

Piece Infix(const std::string& op, Level level, const Piece& a,
            const Piece& b) {
  const Level tighter = static_cast<Level>(static_cast<int>(level) - 1);
  return {absl::StrCat(a.Within(level), " ", op, " ", b.Within(tighter)),
          level};
}

Piece Conditional(const Piece& condition, const Piece& a, const Piece& b) {
  return {
      absl::StrCat(condition.Within(Level::kOr), " ? ", a.Within(Level::kOr),
                   " : ", b.Within(Level::kConditional)),
      Level::kConditional};
}

Piece CastTo(DType to, DType from, const Piece& value) {
  if (to == from) return value;
  if (to == DType::kBool) return Infix("!=", Level::kEquality, value, {"0"});
  const bool plain =
      IsFloat(from) == IsFloat(to) || (IsFloat(to) && SizeBytes(from) < 8);
  if (!plain) return Call(absl::StrCat("tw_cast<", TypeName(to), ">"), {value});
  return {absl::StrCat("(", TypeName(to), ")", value.Within(Level::kUnary)),
          Level::kUnary};
}

Operator ScalarOperator(Op op, DType dtype) {
  const bool is_bool = dtype == DType::kBool;
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      if (is_bool || !IsWhole(dtype)) return {};
      return VectorOperator(op);
    case Op::kAnd:
      if (is_bool) return {"&&", Level::kAnd};
      break;
    case Op::kOr:
      if (is_bool) return {"||", Level::kOr};
      break;
    case Op::kXor:
      if (is_bool) return {"!=", Level::kEquality};
      break;
    default:
      break;
  }
  return VectorOperator(op);
}

Operator VectorOperator(Op op) {
  switch (op) {
    case Op::kAdd:
      return {"+", Level::kSum};
    case Op::kSub:
      return {"-", Level::kSum};
    case Op::kMul:
      return {"*", Level::kProduct};
    case Op::kDiv:
      return {"/", Level::kProduct};
    case Op::kAnd:
      return {"&", Level::kBitAnd};
    case Op::kXor:
      return {"^", Level::kBitXor};
    case Op::kOr:
      return {"|", Level::kBitOr};
    case Op::kEq:
      return {"==", Level::kEquality};
    case Op::kNe:
      return {"!=", Level::kEquality};
    case Op::kLt:
      return {"<", Level::kRelation};
    case Op::kLe:
      return {"<=", Level::kRelation};
    case Op::kGt:
      return {">", Level::kRelation};
    case Op::kGe:
      return {">=", Level::kRelation};
    default:
      return {};
  }
}

std::string FunctionName(Op op) {
  switch (op) {
    case Op::kAbs:
      return "tw_abs";
    case Op::kSqrt:
      return "tw_sqrt";
    case Op::kFloor:
      return "tw_floor";
    case Op::kCeil:
      return "tw_ceil";
    case Op::kRound:
      return "tw_round";
    case Op::kNot:
      return "tw_not";
    case Op::kNeg:
      return "tw_neg";
    case Op::kIsNan:
      return "tw_isnan";
    case Op::kAdd:
      return "tw_add";
    case Op::kSub:
      return "tw_sub";
    case Op::kMul:
      return "tw_mul";
    case Op::kDiv:
      return "tw_div";
    case Op::kFloorDiv:
      return "tw_floordiv";
    case Op::kFloorMod:
      return "tw_floormod";
    case Op::kPow:
      return "tw_pow";
    case Op::kMax:
      return "tw_max";
    case Op::kMin:
      return "tw_min";
    default:
      return "";
  }
}

}  // namespace tilewright::gpu_text

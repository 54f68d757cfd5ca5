// Expressions as text: the same spelling for messages and for the text form
// (docs/text_form.md).
#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

// How tightly an expression binds; operands of the same or looser binding get
// parentheses where they would otherwise read differently.
enum Binding {
  kLoosest = 1,
  kDisjunction = 1,
  kConjunction,
  kCompare,
  kAdditive,
  kMultiplicative,
  kPrimary
};

struct Infix {
  const char* symbol;  // null: written as a call
  Binding binding;
};

Infix InfixOf(Op op, DType operand) {
  switch (op) {
    case Op::kOr:
      return operand == DType::kBool ? Infix{" || ", kDisjunction}
                                     : Infix{nullptr, kPrimary};
    case Op::kAnd:
      return operand == DType::kBool ? Infix{" && ", kConjunction}
                                     : Infix{nullptr, kPrimary};
    case Op::kFloorDiv:
      return {" floordiv ", kMultiplicative};
    case Op::kFloorMod:
      return {" floormod ", kMultiplicative};
    case Op::kAdd:
      return {" + ", kAdditive};
    case Op::kSub:
      return {" - ", kAdditive};
    case Op::kMul:
      return {" * ", kMultiplicative};
    case Op::kDiv:
      return {" / ", kMultiplicative};
    case Op::kEq:
      return {" == ", kCompare};
    case Op::kNe:
      return {" != ", kCompare};
    case Op::kLt:
      return {" < ", kCompare};
    case Op::kLe:
      return {" <= ", kCompare};
    case Op::kGt:
      return {" > ", kCompare};
    case Op::kGe:
      return {" >= ", kCompare};
    default:
      return {nullptr, kPrimary};
  }
}

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

class Printer {
 public:
  Printer(const std::function<std::string(int)>& source_name,
          const std::function<std::string(const Expr&)>& var_name)
      : source_name_(source_name), var_name_(var_name) {}

  void Print(const Expr& expr, int binding) {
    if (!expr) {
      absl::StrAppend(&out, "<empty>");
      return;
    }
    switch (expr.op()) {
      case Op::kConst:
        absl::StrAppend(&out, PrintConstant(expr));
        return;
      case Op::kVar:
        absl::StrAppend(&out, var_name_(expr));
        return;
      case Op::kLoad:
        absl::StrAppend(&out, source_name_(expr.source()), "[");
        PrintList(expr.operands());
        absl::StrAppend(&out, "]");
        return;
      default:
        break;
    }
    const Infix infix = InfixOf(expr.op(), expr.operand(0).dtype());
    if (infix.symbol == nullptr) {
      absl::StrAppend(&out, std::string(Name(expr.op())));
      if (expr.op() == Op::kCast)
        absl::StrAppend(&out, ":", std::string(Name(expr.dtype())));
      absl::StrAppend(&out, "(");
      PrintList(expr.operands());
      absl::StrAppend(&out, ")");
      return;
    }
    const bool parentheses = infix.binding < binding;
    if (parentheses) absl::StrAppend(&out, "(");
    // Comparisons do not chain, the others associate to the left.
    Print(expr.operand(0), infix.binding == kCompare
                               ? static_cast<int>(kAdditive)
                               : infix.binding);
    absl::StrAppend(&out, infix.symbol);
    Print(expr.operand(1), infix.binding + 1);
    if (parentheses) absl::StrAppend(&out, ")");
  }

  std::string out;

 private:
  void PrintList(absl::Span<const Expr> list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) absl::StrAppend(&out, ", ");
      Print(list[i], kLoosest);
    }
  }

  const std::function<std::string(int)>& source_name_;
  const std::function<std::string(const Expr&)>& var_name_;
};

}  // namespace

std::string PrintFloat(double value, DType dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (dtype != DType::kFloat64) {
    // Shortest for a float; read back through double it may, in rare cases,
    // round differently.
    const std::string text = Shortest(static_cast<float>(value));
    double parsed = 0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    const double back = RoundTo(dtype, Scalar{parsed, 0}).f;
    if (std::memcmp(&back, &value, sizeof(back)) == 0) return text;
  }
  return Shortest(value);
}

std::string PrintConstant(const Expr& constant) {
  const DType dtype = constant.dtype();
  if (dtype == DType::kBool)
    return constant.int_value() != 0 ? "true" : "false";
  std::string text;
  if (IsFloat(dtype)) {
    text = PrintFloat(constant.float_value(), dtype);
  } else if (dtype == DType::kUInt64) {
    text = absl::StrCat(static_cast<uint64_t>(constant.int_value()));
  } else {
    text = absl::StrCat(constant.int_value());
  }
  if (dtype == DType::kInt64 || dtype == DType::kFloat32) return text;
  return text + ":" + std::string(Name(dtype));
}

std::string PrintExpr(const Expr& expr,
                      const std::function<std::string(int)>& source_name,
                      const std::function<std::string(const Expr&)>& var_name) {
  Printer printer(source_name, var_name);
  printer.Print(expr, kLoosest);
  return std::move(printer.out);
}

std::string Expr::ToString() const {
  return PrintExpr(
      *this, [](int source) { return absl::StrCat("%", source); },
      [](const Expr& var) {
        return var.var_name().empty() ? absl::StrCat("$", var.var_id())
                                      : var.var_name();
      });
}

}  // namespace tilewright

#include "tilegraph/text/text_expr_parser.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright {
namespace {

// Nested deeper than any body that is written by hand or by rewrites, shallow
// enough for every recursion over the tree.
constexpr int kMaxDepth = 400;

absl::Status TooDeep(const Lexer& at) {
  return at.Error(absl::StrCat("an expression deeper than ", kMaxDepth));
}

struct InfixOp {
  Op op;
  int level;
};
constexpr int kComparison = 3, kLevels = 6;

std::optional<InfixOp> InfixAt(const Token& token) {
  static constexpr struct {
    std::string_view text;
    Op op;
    int level;
  } kInfix[] = {{"||", Op::kOr, 1},
                {"&&", Op::kAnd, 2},
                {"==", Op::kEq, 3},
                {"!=", Op::kNe, 3},
                {"<=", Op::kLe, 3},
                {">=", Op::kGe, 3},
                {"<", Op::kLt, 3},
                {">", Op::kGt, 3},
                {"+", Op::kAdd, 4},
                {"-", Op::kSub, 4},
                {"*", Op::kMul, 5},
                {"/", Op::kDiv, 5},
                {"floordiv", Op::kFloorDiv, 5},
                {"floormod", Op::kFloorMod, 5}};
  if (token.kind != Token::Kind::kSymbol && token.kind != Token::Kind::kName)
    return std::nullopt;
  for (const auto& infix : kInfix) {
    if (token.text == infix.text) return InfixOp{infix.op, infix.level};
  }
  return std::nullopt;
}

absl::StatusOr<ParsedExpr> MakeOp(const Lexer& at, Op op,
                                  std::vector<ParsedExpr> operands) {
  // Bare integers take the dtype of the operand that has one; the condition
  // of a select has nothing to do with it.
  const size_t first = op == Op::kSelect ? 1 : 0;
  for (size_t i = first; i < operands.size(); ++i) {
    if (operands[i].bare_integer) continue;
    for (size_t j = first; j < operands.size(); ++j)
      Adapt(operands[j], operands[i].expr.dtype());
    break;
  }
  std::vector<DType> dtypes;
  std::vector<Expr> exprs;
  std::string got;
  ParsedExpr result;
  for (ParsedExpr& operand : operands) {
    dtypes.push_back(operand.expr.dtype());
    absl::StrAppend(&got, got.empty() ? "" : ", ",
                    std::string(Name(operand.expr.dtype())));
    result.depth = std::max(result.depth, operand.depth + 1);
    exprs.push_back(std::move(operand.expr));
  }
  if (!ResultDType(op, dtypes).has_value()) {
    return at.Error(absl::StrCat("'", std::string(Name(op)),
                                 "' does not take (", got, ")"));
  }
  if (result.depth > kMaxDepth) return TooDeep(at);
  result.expr = Expr::Make(op, std::move(exprs));
  return result;
}

}  // namespace

void Adapt(ParsedExpr& parsed, DType dtype) {
  if (!parsed.bare_integer || parsed.expr.dtype() == dtype ||
      dtype == DType::kBool)
    return;
  const int64_t value = parsed.expr.int_value();
  const Expr adapted = IsFloat(dtype)
                           ? Expr::Float(static_cast<double>(value), dtype)
                           : Expr::Int(value, dtype);
  // Only if nothing is lost.
  if (IsFloat(dtype) ? adapted.float_value() != static_cast<double>(value)
                     : adapted.int_value() != value)
    return;
  parsed.expr = adapted;
}

absl::StatusOr<ParsedExpr> ParseLiteral(TextReader& reader,
                                        std::optional<DType> implied) {
  const Lexer start = reader.place();
  const bool negative = reader.TakeIf("-");
  const Token token = reader.token();
  ParsedExpr result;
  if (!negative && (token.IsWord("true") || token.IsWord("false"))) {
    reader.Next();
    result.expr = Expr::Int(token.text == "true" ? 1 : 0, DType::kBool);
    return result;
  }
  const bool special =
      token.IsWord("inf") || (!negative && token.IsWord("nan"));
  const bool integer = token.kind == Token::Kind::kInteger;
  if (!special && !integer && token.kind != Token::Kind::kFloat)
    return reader.Expected("a number");
  reader.Next();
  std::optional<DType> dtype;
  if (reader.TakeIf(":")) {
    TW_ASSIGN_OR_RETURN(dtype, reader.TakeDType());
  } else if (!integer) {
    dtype = implied.value_or(DType::kFloat32);
  } else if (implied.has_value() && *implied == DType::kUInt64) {
    dtype = implied;
  } else {
    result.bare_integer = true;
  }
  const std::string text = (negative ? "-" : "") + token.text;
  const auto out_of_range = [&] {
    return start.Error(absl::StrCat(
        text, " is no ", std::string(Name(dtype.value_or(DType::kInt64)))));
  };
  if (dtype.has_value() && IsFloat(*dtype)) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (token.text == "inf") {
      value = negative ? -std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::infinity();
    } else if (!special) {
      // Too large or too small for a double: refused, like an integer that
      // does not fit.
      if (std::from_chars(text.data(), text.data() + text.size(), value).ec !=
          std::errc())
        return out_of_range();
    }
    result.expr = Expr::Float(value, *dtype);
    return result;
  }
  if (!integer || (dtype.has_value() && !IsInteger(*dtype)))
    return out_of_range();
  int64_t value = 0;
  if (dtype == DType::kUInt64) {
    uint64_t bits = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), bits).ec !=
            std::errc() ||
        negative)
      return out_of_range();
    value = static_cast<int64_t>(bits);
  } else if (std::from_chars(text.data(), text.data() + text.size(), value)
                 .ec != std::errc()) {
    return out_of_range();
  }
  result.expr = Expr::Int(value, dtype.value_or(DType::kInt64));
  if (result.expr.int_value() != value) return out_of_range();
  return result;
}

absl::StatusOr<ParsedExpr> ExprParser::ParseInfix(int level, int nesting) {
  if (level == kLevels) return ParsePrimary(nesting);
  TW_ASSIGN_OR_RETURN(ParsedExpr left, ParseInfix(level + 1, nesting));
  while (true) {
    const std::optional<InfixOp> infix = InfixAt(reader_.token());
    if (!infix.has_value() || infix->level != level) return left;
    const Lexer at_op = reader_.place();
    reader_.Next();
    TW_ASSIGN_OR_RETURN(ParsedExpr right, ParseInfix(level + 1, nesting));
    std::vector<ParsedExpr> operands = {std::move(left), std::move(right)};
    TW_ASSIGN_OR_RETURN(left, MakeOp(at_op, infix->op, std::move(operands)));
    if (level == kComparison) return left;  // a < b < c has no meaning.
  }
}

absl::StatusOr<ParsedExpr> ExprParser::ParsePrimary(int nesting) {
  if (nesting > kMaxDepth) return TooDeep(reader_.place());
  const Token& token = reader_.token();
  if (reader_.TakeIf("(")) {
    TW_ASSIGN_OR_RETURN(ParsedExpr inner, ParseExpr(nesting + 1));
    TW_RETURN_IF_ERROR(reader_.Take(")"));
    return inner;
  }
  if (token.kind == Token::Kind::kInteger ||
      token.kind == Token::Kind::kFloat || token.IsSymbol("-") ||
      token.IsWord("true") || token.IsWord("false") || token.IsWord("inf") ||
      token.IsWord("nan")) {
    return ParseLiteral(reader_, std::nullopt);
  }
  const Lexer at_name = reader_.place();
  TW_ASSIGN_OR_RETURN(const std::string name,
                      reader_.TakeName("an expression"));
  if (reader_.token().IsSymbol("[")) return ParseLoad(at_name, name, nesting);
  const bool bare = at_name.token().kind == Token::Kind::kName;
  if (bare && name == "cast" && reader_.token().IsSymbol(":"))
    return ParseCast(nesting);
  if (bare && reader_.token().IsSymbol("("))
    return ParseCall(at_name, name, nesting);
  const auto axis = axis_ids_.find(name);
  if (axis == axis_ids_.end())
    return at_name.Error(absl::StrCat("no axis '", name, "'"));
  ParsedExpr result;
  result.expr = Expr::Var(axis->second, name);
  return result;
}

absl::StatusOr<std::vector<ParsedExpr>> ExprParser::ParseOperands(
    std::string_view close, int nesting) {
  std::vector<ParsedExpr> operands;
  reader_.Next();
  TW_RETURN_IF_ERROR(reader_.TakeList(close, [&]() -> absl::Status {
    if (static_cast<int64_t>(operands.size()) > kMaxTextRank)
      return reader_.Error("more than 64 operands");
    TW_ASSIGN_OR_RETURN(ParsedExpr operand, ParseExpr(nesting + 1));
    operands.push_back(std::move(operand));
    return absl::OkStatus();
  }));
  return operands;
}

absl::StatusOr<ParsedExpr> ExprParser::ParseLoad(const Lexer& at_name,
                                                 const std::string& name,
                                                 int nesting) {
  const std::optional<TensorId> id = graph_.Find(name);
  if (!id.has_value())
    return at_name.Error(
        absl::StrCat("no tensor '", name, "' before this one"));
  TW_ASSIGN_OR_RETURN(std::vector<ParsedExpr> operands,
                      ParseOperands("]", nesting));
  if (operands.size() != graph_.tensor(*id).shape.size()) {
    return at_name.Error(
        absl::StrCat(operands.size(), " indices for '", name, "', which has ",
                     graph_.tensor(*id).shape.size(), " dimensions"));
  }
  ParsedExpr result;
  std::vector<Expr> indices;
  for (ParsedExpr& operand : operands) {
    if (operand.expr.dtype() != DType::kInt64)
      return at_name.Error(absl::StrCat("an index of '", name, "' is no i64"));
    result.depth = std::max(result.depth, operand.depth + 1);
    indices.push_back(std::move(operand.expr));
  }
  if (result.depth > kMaxDepth) return TooDeep(at_name);
  result.expr = graph_.Load(*id, std::move(indices));
  return result;
}

absl::StatusOr<ParsedExpr> ExprParser::ParseCast(int nesting) {
  const Lexer at = reader_.place();
  reader_.Next();
  TW_ASSIGN_OR_RETURN(const DType dtype, reader_.TakeDType());
  if (!reader_.token().IsSymbol("(")) return reader_.Expected("'('");
  TW_ASSIGN_OR_RETURN(std::vector<ParsedExpr> operands,
                      ParseOperands(")", nesting));
  if (operands.size() != 1) return at.Error("cast takes one operand");
  ParsedExpr result;
  result.depth = operands[0].depth + 1;
  if (result.depth > kMaxDepth) return TooDeep(at);
  result.expr = Expr::Cast(dtype, std::move(operands[0].expr));
  return result;
}

absl::StatusOr<ParsedExpr> ExprParser::ParseCall(const Lexer& at_name,
                                                 const std::string& name,
                                                 int nesting) {
  const std::optional<Op> op = ParseOp(name);
  if (!op.has_value())
    return at_name.Error(absl::StrCat("no operation '", name, "'"));
  TW_ASSIGN_OR_RETURN(std::vector<ParsedExpr> operands,
                      ParseOperands(")", nesting));
  return MakeOp(at_name, *op, std::move(operands));
}

}  // namespace tilewright

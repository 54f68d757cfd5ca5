// Recursive descent over the grammar of docs/text_form.md. Whatever the text,
// the outcome is a graph or a Status: dtypes, names and counts are checked
// before anything is built from them, and the depth of expressions is limited.
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/text_form.h"
#include "tilegraph/text_lexer.h"
#include "tilegraph/verifier.h"

namespace tilewright {
namespace {

// Nested deeper than any body that is written by hand or by rewrites, shallow
// enough for every recursion over the tree.
constexpr int kMaxDepth = 400;
constexpr int64_t kMaxRank = 64;
constexpr int64_t kMaxNameBytes = 4096;

struct Parsed {
  Expr expr;
  int depth = 1;
  bool bare_integer =
      false;  // a literal without a dtype: it takes that of its surroundings
};

// A bare integer becomes a number of `dtype`.
void Adapt(Parsed& parsed, DType dtype) {
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

class Parser {
 public:
  Parser(
      std::string_view text,
      const std::map<std::string, std::shared_ptr<const HostTensor>>& constants)
      : lexer_(text), constants_(constants) {}

  absl::StatusOr<TensorGraph> Run() {
    while (lexer_.token().kind != Token::Kind::kEnd) {
      if (lexer_.token().IsWord("return")) {
        TW_RETURN_IF_ERROR(ParseReturn());
        if (lexer_.token().kind != Token::Kind::kEnd)
          return lexer_.Expected("the end after 'return'");
        break;
      }
      TW_RETURN_IF_ERROR(ParseTensor());
    }
    TW_RETURN_IF_ERROR(VerifyGraph(graph_));
    return std::move(graph_);
  }

 private:
  // --- Words

  absl::Status Take(std::string_view symbol) {
    if (!lexer_.token().IsSymbol(symbol))
      return lexer_.Expected(absl::StrCat("'", std::string(symbol), "'"));
    lexer_.Next();
    return absl::OkStatus();
  }
  bool TakeIf(std::string_view symbol) {
    if (!lexer_.token().IsSymbol(symbol)) return false;
    lexer_.Next();
    return true;
  }
  bool TakeWordIf(std::string_view word) {
    if (!lexer_.token().IsWord(word)) return false;
    lexer_.Next();
    return true;
  }
  absl::StatusOr<std::string> TakeName(std::string_view what) {
    if (!lexer_.token().IsName() || lexer_.token().text.empty())
      return lexer_.Expected(what);
    if (static_cast<int64_t>(lexer_.token().text.size()) > kMaxNameBytes)
      return lexer_.Error("a name longer than 4096 bytes");
    std::string name = lexer_.token().text;
    lexer_.Next();
    return name;
  }
  absl::StatusOr<int64_t> TakeInteger(std::string_view what) {
    if (lexer_.token().kind != Token::Kind::kInteger)
      return lexer_.Expected(what);
    const std::string& text = lexer_.token().text;
    int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec !=
        std::errc()) {
      return lexer_.Error(absl::StrCat(text, " does not fit 64 bits"));
    }
    lexer_.Next();
    return value;
  }
  absl::StatusOr<DType> TakeDType() {
    const std::optional<DType> dtype = lexer_.token().kind == Token::Kind::kName
                                           ? ParseDType(lexer_.token().text)
                                           : std::nullopt;
    if (!dtype.has_value()) return lexer_.Expected("a dtype");
    lexer_.Next();
    return *dtype;
  }
  // `item` until `close`, separated by commas.
  template <typename Item>
  absl::Status TakeList(std::string_view close, Item item) {
    if (TakeIf(close)) return absl::OkStatus();
    do {
      TW_RETURN_IF_ERROR(item());
    } while (TakeIf(","));
    return Take(close);
  }

  // --- Statements

  absl::Status ParseReturn() {
    lexer_.Next();
    std::vector<TensorId> outputs;
    do {
      const Lexer at_name = lexer_;
      TW_ASSIGN_OR_RETURN(const std::string name,
                          TakeName("the name of an output"));
      const std::optional<TensorId> id = graph_.Find(name);
      if (!id.has_value())
        return at_name.Error(absl::StrCat("no tensor '", name, "'"));
      outputs.push_back(*id);
    } while (TakeIf(","));
    graph_.SetOutputs(std::move(outputs));
    return absl::OkStatus();
  }

  absl::StatusOr<Dim> ParseDim() {
    if (!lexer_.token().IsName()) {
      TW_ASSIGN_OR_RETURN(const int64_t extent, TakeInteger("an extent"));
      return Dim(extent);
    }
    TW_ASSIGN_OR_RETURN(std::string name, TakeName("an extent"));
    TW_RETURN_IF_ERROR(Take("("));
    TW_ASSIGN_OR_RETURN(const int64_t min, TakeInteger("the least extent"));
    TW_RETURN_IF_ERROR(Take(".."));
    TW_ASSIGN_OR_RETURN(const int64_t max, TakeInteger("the greatest extent"));
    TW_RETURN_IF_ERROR(Take(")"));
    return Dim::Symbol(std::move(name), min, max);
  }

  absl::Status ParseTensor() {
    const Lexer start = lexer_;
    TW_ASSIGN_OR_RETURN(const std::string name,
                        TakeName("the name of a tensor"));
    if (graph_.Find(name).has_value())
      return start.Error(absl::StrCat("a second tensor '", name, "'"));
    TW_RETURN_IF_ERROR(Take(":"));
    TW_ASSIGN_OR_RETURN(const DType dtype, TakeDType());
    TW_RETURN_IF_ERROR(Take("["));
    std::vector<Dim> shape;
    TW_RETURN_IF_ERROR(TakeList("]", [&]() -> absl::Status {
      TW_ASSIGN_OR_RETURN(Dim dim, ParseDim());
      if (static_cast<int64_t>(shape.size()) >= kMaxRank)
        return lexer_.Error("more than 64 dimensions");
      shape.push_back(std::move(dim));
      return absl::OkStatus();
    }));
    TW_RETURN_IF_ERROR(Take("="));
    if (TakeWordIf("placeholder")) {
      graph_.AddPlaceholder(name, dtype, std::move(shape));
      return absl::OkStatus();
    }
    if (TakeWordIf("constant")) return ParseConstant(name, dtype, shape);
    if (TakeWordIf("compute")) return ParseCompute(name, dtype, shape);
    return lexer_.Expected("'placeholder', 'constant' or 'compute'");
  }

  absl::Status ParseConstant(const std::string& name, DType dtype,
                             const std::vector<Dim>& shape) {
    std::vector<int64_t> extents;
    int64_t elements = 1;
    for (const Dim& dim : shape) {
      if (!dim.is_static())
        return lexer_.Error("a constant has no symbolic extent");
      if (__builtin_mul_overflow(elements, dim.value(), &elements))
        return lexer_.Error("a constant this large");
      extents.push_back(dim.value());
    }
    if (TakeWordIf("fingerprint")) {
      const Lexer at_fingerprint = lexer_;
      TW_ASSIGN_OR_RETURN(const std::string fingerprint,
                          TakeName("a fingerprint in quotes"));
      const auto found = constants_.find(fingerprint);
      if (found == constants_.end() || found->second == nullptr) {
        return at_fingerprint.Error(
            absl::StrCat("no values are given for constant '", name, "' (",
                         fingerprint, ")"));
      }
      if (found->second->dtype() != dtype ||
          found->second->shape() != extents) {
        return at_fingerprint.Error(
            absl::StrCat("the values given for constant '", name,
                         "' have another dtype or shape"));
      }
      graph_.AddConstant(name, found->second);
      return absl::OkStatus();
    }
    TW_RETURN_IF_ERROR(Take("{"));
    std::vector<Scalar>
        values;  // Grows with the text, not with the shape it claims.
    TW_RETURN_IF_ERROR(TakeList("}", [&]() -> absl::Status {
      if (static_cast<int64_t>(values.size()) >= elements)
        return lexer_.Error("more values than the shape has elements");
      TW_ASSIGN_OR_RETURN(Parsed value, ParseLiteral(dtype));
      Adapt(value, dtype);
      if (value.expr.dtype() != dtype)
        return lexer_.Error("a value that is not of the tensor's dtype");
      values.push_back(IsFloat(dtype) ? Scalar{value.expr.float_value(), 0}
                                      : Scalar{0, value.expr.int_value()});
      return absl::OkStatus();
    }));
    if (static_cast<int64_t>(values.size()) != elements) {
      return lexer_.Error(
          absl::StrCat(values.size(), " values for ", elements, " elements"));
    }
    auto tensor = std::make_shared<HostTensor>(dtype, std::move(extents));
    for (size_t i = 0; i < values.size(); ++i)
      tensor->Set(static_cast<int64_t>(i), values[i]);
    graph_.AddConstant(name, std::move(tensor));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Axis>> ParseAxes() {
    std::vector<Axis> axes;
    TW_RETURN_IF_ERROR(Take("("));
    TW_RETURN_IF_ERROR(TakeList(")", [&]() -> absl::Status {
      const Lexer at_name = lexer_;
      TW_ASSIGN_OR_RETURN(std::string name, TakeName("the name of an axis"));
      if (axis_ids_.size() >= static_cast<size_t>(kMaxRank))
        return at_name.Error("more than 64 axes");
      if (!axis_ids_.emplace(name, static_cast<int>(axis_ids_.size())).second) {
        return at_name.Error(absl::StrCat("a second axis '", name, "'"));
      }
      TW_RETURN_IF_ERROR(Take(":"));
      TW_ASSIGN_OR_RETURN(Dim extent, ParseDim());
      axes.push_back({std::move(name), std::move(extent)});
      return absl::OkStatus();
    }));
    return axes;
  }

  absl::Status ParseCompute(const std::string& name, DType dtype,
                            const std::vector<Dim>& shape) {
    const Lexer start = lexer_;
    axis_ids_.clear();
    Compute compute;
    TW_ASSIGN_OR_RETURN(compute.axes, ParseAxes());
    bool same = compute.axes.size() == shape.size();
    for (size_t i = 0; same && i < shape.size(); ++i)
      same = compute.axes[i].extent == shape[i];
    if (!same)
      return start.Error(absl::StrCat(
          "the axes of '", name, "' do not have the extents of its shape"));
    if (TakeWordIf("reduce")) {
      TW_ASSIGN_OR_RETURN(compute.reduce_axes, ParseAxes());
      TW_ASSIGN_OR_RETURN(compute.combiner, ParseCombiner());
    }
    TW_RETURN_IF_ERROR(Take("{"));
    TW_RETURN_IF_ERROR(TakeList("}", [&]() -> absl::Status {
      const Lexer at_body = lexer_;
      TW_ASSIGN_OR_RETURN(Parsed body, ParseExpr(0));
      const int component = static_cast<int>(compute.body.size());
      if (component >=
          (compute.combiner.has_value() ? compute.combiner->arity() : 1)) {
        return at_body.Error(
            "more expressions than the combiner has components");
      }
      Adapt(body, compute.combiner.has_value()
                      ? compute.combiner->component_dtype(component)
                      : dtype);
      compute.body.push_back(std::move(body.expr));
      return absl::OkStatus();
    }));
    if (TakeWordIf("result")) {
      TW_ASSIGN_OR_RETURN(const int64_t result,
                          TakeInteger("the number of a component"));
      if (result >= static_cast<int64_t>(compute.body.size()))
        return lexer_.Error(absl::StrCat("no component ", result));
      compute.result = static_cast<int>(result);
    }
    std::string hint;
    if (TakeWordIf("hint")) {
      TW_ASSIGN_OR_RETURN(hint, TakeName("a hint"));
    }
    graph_.AddCompute(name, dtype, std::move(compute), std::move(hint));
    return absl::OkStatus();
  }

  absl::StatusOr<Combiner> ParseCombiner() {
    const Lexer at_name = lexer_;
    TW_ASSIGN_OR_RETURN(const std::string kind,
                        TakeName("a combiner like 'sum:f32'"));
    TW_RETURN_IF_ERROR(Take(":"));
    TW_ASSIGN_OR_RETURN(const DType acc, TakeDType());
    const std::string text = absl::StrCat(kind, ":", std::string(Name(acc)));
    const std::optional<Combiner> combiner = Combiner::Parse(text);
    if (!combiner.has_value())
      return at_name.Error(absl::StrCat("no combiner '", text, "'"));
    return *combiner;
  }

  // --- Expressions

  struct InfixOp {
    Op op;
    int level;
  };
  static constexpr int kComparison = 3, kLevels = 6;

  std::optional<InfixOp> CurrentInfix() const {
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
    const Token& token = lexer_.token();
    if (token.kind != Token::Kind::kSymbol && token.kind != Token::Kind::kName)
      return std::nullopt;
    for (const auto& infix : kInfix) {
      if (token.text == infix.text) return InfixOp{infix.op, infix.level};
    }
    return std::nullopt;
  }

  absl::StatusOr<Parsed> ParseExpr(int nesting) {
    return ParseInfix(1, nesting);
  }

  // Operators of `level` and tighter.
  absl::StatusOr<Parsed> ParseInfix(int level, int nesting) {
    if (level == kLevels) return ParsePrimary(nesting);
    TW_ASSIGN_OR_RETURN(Parsed left, ParseInfix(level + 1, nesting));
    while (true) {
      const std::optional<InfixOp> infix = CurrentInfix();
      if (!infix.has_value() || infix->level != level) return left;
      const Lexer at_op = lexer_;
      lexer_.Next();
      TW_ASSIGN_OR_RETURN(Parsed right, ParseInfix(level + 1, nesting));
      std::vector<Parsed> operands = {std::move(left), std::move(right)};
      TW_ASSIGN_OR_RETURN(left, MakeOp(at_op, infix->op, std::move(operands)));
      if (level == kComparison) return left;  // a < b < c has no meaning.
    }
  }

  absl::StatusOr<Parsed> MakeOp(const Lexer& at, Op op,
                                std::vector<Parsed> operands) {
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
    Parsed result;
    for (Parsed& operand : operands) {
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

  static absl::Status TooDeep(const Lexer& at) {
    return at.Error(absl::StrCat("an expression deeper than ", kMaxDepth));
  }

  absl::StatusOr<Parsed> ParsePrimary(int nesting) {
    if (nesting > kMaxDepth) return TooDeep(lexer_);
    const Token& token = lexer_.token();
    if (TakeIf("(")) {
      TW_ASSIGN_OR_RETURN(Parsed inner, ParseExpr(nesting + 1));
      TW_RETURN_IF_ERROR(Take(")"));
      return inner;
    }
    if (token.kind == Token::Kind::kInteger ||
        token.kind == Token::Kind::kFloat || token.IsSymbol("-") ||
        token.IsWord("true") || token.IsWord("false") || token.IsWord("inf") ||
        token.IsWord("nan")) {
      return ParseLiteral(std::nullopt);
    }
    const Lexer at_name = lexer_;
    TW_ASSIGN_OR_RETURN(const std::string name, TakeName("an expression"));
    if (lexer_.token().IsSymbol("[")) return ParseLoad(at_name, name, nesting);
    const bool bare = at_name.token().kind == Token::Kind::kName;
    if (bare && name == "cast" && lexer_.token().IsSymbol(":"))
      return ParseCast(nesting);
    if (bare && lexer_.token().IsSymbol("("))
      return ParseCall(at_name, name, nesting);
    const auto axis = axis_ids_.find(name);
    if (axis == axis_ids_.end())
      return at_name.Error(absl::StrCat("no axis '", name, "'"));
    Parsed result;
    result.expr = Expr::Var(axis->second, name);
    return result;
  }

  absl::StatusOr<std::vector<Parsed>> ParseOperands(std::string_view close,
                                                    int nesting) {
    std::vector<Parsed> operands;
    lexer_.Next();
    TW_RETURN_IF_ERROR(TakeList(close, [&]() -> absl::Status {
      if (static_cast<int64_t>(operands.size()) > kMaxRank)
        return lexer_.Error("more than 64 operands");
      TW_ASSIGN_OR_RETURN(Parsed operand, ParseExpr(nesting + 1));
      operands.push_back(std::move(operand));
      return absl::OkStatus();
    }));
    return operands;
  }

  absl::StatusOr<Parsed> ParseLoad(const Lexer& at_name,
                                   const std::string& name, int nesting) {
    const std::optional<TensorId> id = graph_.Find(name);
    if (!id.has_value())
      return at_name.Error(
          absl::StrCat("no tensor '", name, "' before this one"));
    TW_ASSIGN_OR_RETURN(std::vector<Parsed> operands,
                        ParseOperands("]", nesting));
    if (operands.size() != graph_.tensor(*id).shape.size()) {
      return at_name.Error(
          absl::StrCat(operands.size(), " indices for '", name, "', which has ",
                       graph_.tensor(*id).shape.size(), " dimensions"));
    }
    Parsed result;
    std::vector<Expr> indices;
    for (Parsed& operand : operands) {
      if (operand.expr.dtype() != DType::kInt64)
        return at_name.Error(
            absl::StrCat("an index of '", name, "' is no i64"));
      result.depth = std::max(result.depth, operand.depth + 1);
      indices.push_back(std::move(operand.expr));
    }
    if (result.depth > kMaxDepth) return TooDeep(at_name);
    result.expr = graph_.Load(*id, std::move(indices));
    return result;
  }

  absl::StatusOr<Parsed> ParseCast(int nesting) {
    const Lexer at = lexer_;
    lexer_.Next();
    TW_ASSIGN_OR_RETURN(const DType dtype, TakeDType());
    if (!lexer_.token().IsSymbol("(")) return lexer_.Expected("'('");
    TW_ASSIGN_OR_RETURN(std::vector<Parsed> operands,
                        ParseOperands(")", nesting));
    if (operands.size() != 1) return at.Error("cast takes one operand");
    Parsed result;
    result.depth = operands[0].depth + 1;
    if (result.depth > kMaxDepth) return TooDeep(at);
    result.expr = Expr::Cast(dtype, std::move(operands[0].expr));
    return result;
  }

  absl::StatusOr<Parsed> ParseCall(const Lexer& at_name,
                                   const std::string& name, int nesting) {
    const std::optional<Op> op = ParseOp(name);
    if (!op.has_value())
      return at_name.Error(absl::StrCat("no operation '", name, "'"));
    TW_ASSIGN_OR_RETURN(std::vector<Parsed> operands,
                        ParseOperands(")", nesting));
    return MakeOp(at_name, *op, std::move(operands));
  }

  // [-] number [: dtype], inf, nan, true, false. Without a dtype an integer is
  // i64 and bare, a float is `implied`, or f32.
  absl::StatusOr<Parsed> ParseLiteral(std::optional<DType> implied) {
    const Lexer start = lexer_;
    const bool negative = TakeIf("-");
    const Token token = lexer_.token();
    Parsed result;
    if (!negative && (token.IsWord("true") || token.IsWord("false"))) {
      lexer_.Next();
      result.expr = Expr::Int(token.text == "true" ? 1 : 0, DType::kBool);
      return result;
    }
    const bool special =
        token.IsWord("inf") || (!negative && token.IsWord("nan"));
    const bool integer = token.kind == Token::Kind::kInteger;
    if (!special && !integer && token.kind != Token::Kind::kFloat)
      return lexer_.Expected("a number");
    lexer_.Next();
    std::optional<DType> dtype;
    if (TakeIf(":")) {
      TW_ASSIGN_OR_RETURN(dtype, TakeDType());
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

  Lexer lexer_;
  const std::map<std::string, std::shared_ptr<const HostTensor>>& constants_;
  TensorGraph graph_;
  std::map<std::string, int> axis_ids_;  // of the compute being read
};

}  // namespace

absl::StatusOr<TensorGraph> ParseText(
    std::string_view text,
    const std::map<std::string, std::shared_ptr<const HostTensor>>& constants) {
  return Parser(text, constants).Run();
}

}  // namespace tilewright

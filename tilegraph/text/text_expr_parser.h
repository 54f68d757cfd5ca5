// The expressions of the text form. Private to text_form.
#ifndef TILEWRIGHT_TILEGRAPH_TEXT_TEXT_EXPR_PARSER_H_
#define TILEWRIGHT_TILEGRAPH_TEXT_TEXT_EXPR_PARSER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/text/text_reader.h"

namespace tilewright {

// The largest rank of a tensor, and the most axes of a compute and operands of
// an operation.
inline constexpr int64_t kMaxTextRank = 64;

struct ParsedExpr {
  Expr expr;
  int depth = 1;
  // A literal without a dtype: it takes that of its surroundings.
  bool bare_integer = false;
};

// A bare integer becomes a number of `dtype` if nothing is lost.
void Adapt(ParsedExpr& parsed, DType dtype);

// [-] number [: dtype], inf, nan, true, false. Without a dtype an integer is
// i64 and bare, a float is `implied`, or f32.
absl::StatusOr<ParsedExpr> ParseLiteral(TextReader& reader,
                                        std::optional<DType> implied);

// An expression over `axis_ids`, the axes of its compute, that loads from
// `graph`. All three outlive the parser.
class ExprParser {
 public:
  ExprParser(TextReader& reader, const TensorGraph& graph,
             const std::map<std::string, int>& axis_ids)
      : reader_(reader), graph_(graph), axis_ids_(axis_ids) {}

  absl::StatusOr<ParsedExpr> Parse() { return ParseExpr(0); }

 private:
  absl::StatusOr<ParsedExpr> ParseExpr(int nesting) {
    return ParseInfix(1, nesting);
  }
  // Operators of `level` and tighter.
  absl::StatusOr<ParsedExpr> ParseInfix(int level, int nesting);
  absl::StatusOr<ParsedExpr> ParsePrimary(int nesting);
  absl::StatusOr<std::vector<ParsedExpr>> ParseOperands(std::string_view close,
                                                        int nesting);
  absl::StatusOr<ParsedExpr> ParseLoad(const Lexer& at_name,
                                       const std::string& name, int nesting);
  absl::StatusOr<ParsedExpr> ParseCast(int nesting);
  absl::StatusOr<ParsedExpr> ParseCall(const Lexer& at_name,
                                       const std::string& name, int nesting);

  TextReader& reader_;
  const TensorGraph& graph_;
  const std::map<std::string, int>& axis_ids_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TEXT_TEXT_EXPR_PARSER_H_

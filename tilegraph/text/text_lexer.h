// Words of the text form, with their place.
#ifndef TILEWRIGHT_TILEGRAPH_TEXT_TEXT_LEXER_H_
#define TILEWRIGHT_TILEGRAPH_TEXT_TEXT_LEXER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tilewright {

// Spelled bare; anything else is quoted: "…" with \" and \\ and \xHH.
bool IsBareName(std::string_view name);
std::string QuoteName(std::string_view name);

struct Token {
  enum class Kind { kName, kQuoted, kInteger, kFloat, kSymbol, kEnd, kBad };
  Kind kind = Kind::kEnd;
  std::string text;  // of a quoted name the name, of kBad what is wrong
  int line = 1, column = 1;

  bool IsSymbol(std::string_view symbol) const {
    return kind == Kind::kSymbol && text == symbol;
  }
  bool IsWord(std::string_view word) const {
    return kind == Kind::kName && text == word;
  }
  bool IsName() const { return kind == Kind::kName || kind == Kind::kQuoted; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Next(); }
  const Token& token() const { return token_; }
  void Next();
  // InvalidArgument at the current token: "line 3, column 7: `what`".
  absl::Status Error(std::string_view what) const;
  // "expected `wanted`, found ',' "
  absl::Status Expected(std::string_view wanted) const;

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void Advance();
  void SkipSpace();
  void ReadNumber();
  void ReadQuoted();

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1, column_ = 1;
  Token token_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TEXT_TEXT_LEXER_H_

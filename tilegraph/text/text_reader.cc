#include "tilegraph/text/text_reader.h"

#include <charconv>
#include <optional>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxNameBytes = 4096;

}  // namespace

absl::Status TextReader::Take(std::string_view symbol) {
  if (!lexer_.token().IsSymbol(symbol))
    return lexer_.Expected(absl::StrCat("'", std::string(symbol), "'"));
  lexer_.Next();
  return absl::OkStatus();
}

bool TextReader::TakeIf(std::string_view symbol) {
  if (!lexer_.token().IsSymbol(symbol)) return false;
  lexer_.Next();
  return true;
}

bool TextReader::TakeWordIf(std::string_view word) {
  if (!lexer_.token().IsWord(word)) return false;
  lexer_.Next();
  return true;
}

absl::StatusOr<std::string> TextReader::TakeName(std::string_view what) {
  if (!lexer_.token().IsName() || lexer_.token().text.empty())
    return lexer_.Expected(what);
  if (static_cast<int64_t>(lexer_.token().text.size()) > kMaxNameBytes)
    return lexer_.Error("a name longer than 4096 bytes");
  std::string name = lexer_.token().text;
  lexer_.Next();
  return name;
}

absl::StatusOr<int64_t> TextReader::TakeInteger(std::string_view what) {
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

absl::StatusOr<DType> TextReader::TakeDType() {
  const std::optional<DType> dtype = lexer_.token().kind == Token::Kind::kName
                                         ? ParseDType(lexer_.token().text)
                                         : std::nullopt;
  if (!dtype.has_value()) return lexer_.Expected("a dtype");
  lexer_.Next();
  return *dtype;
}

}  // namespace tilewright

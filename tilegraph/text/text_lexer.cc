#include "tilegraph/text/text_lexer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool InName(char c) { return StartsName(c) || IsDigit(c) || c == '.'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Words that mean something else where a name may stand.
constexpr std::string_view kReserved[] = {
    "return", "true", "false", "inf", "nan", "floordiv", "floormod"};

constexpr std::string_view kLongSymbols[] = {
    "==", "!=", "<=", ">=", "&&", "||", ".."};
constexpr std::string_view kShortSymbols = "()[]{},:=<>+-*/";

}  // namespace

bool IsBareName(std::string_view name) {
  if (name.empty() || !StartsName(name[0])) return false;
  if (!std::all_of(name.begin(), name.end(), InName)) return false;
  return std::find(std::begin(kReserved), std::end(kReserved), name) ==
         std::end(kReserved);
}

std::string QuoteName(std::string_view name) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : name) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += kHex[byte >> 4];
      result += kHex[byte & 15];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

void Lexer::Advance() {
  if (text_[at_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++at_;
}

void Lexer::SkipSpace() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') Advance();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      Advance();
    } else {
      return;
    }
  }
}

void Lexer::Next() {
  SkipSpace();
  token_ = Token{Token::Kind::kEnd, "", line_, column_};
  if (at_ >= text_.size()) return;
  const char c = Peek();
  if (StartsName(c)) {
    token_.kind = Token::Kind::kName;
    while (at_ < text_.size() && InName(Peek())) {
      token_.text += Peek();
      Advance();
    }
    return;
  }
  if (IsDigit(c)) return ReadNumber();
  if (c == '"') return ReadQuoted();
  token_.kind = Token::Kind::kSymbol;
  for (const std::string_view symbol : kLongSymbols) {
    if (text_.substr(at_, 2) != symbol) continue;
    token_.text = std::string(symbol);
    Advance();
    Advance();
    return;
  }
  token_.text = std::string(1, c);
  if (kShortSymbols.find(c) == std::string_view::npos) {
    token_.kind = Token::Kind::kBad;
    token_.text = absl::StrCat("unexpected character ", QuoteName(token_.text));
  }
  Advance();
}

void Lexer::ReadNumber() {
  token_.kind = Token::Kind::kInteger;
  const auto digits = [&] {
    while (IsDigit(Peek())) {
      token_.text += Peek();
      Advance();
    }
  };
  digits();
  if (Peek() == '.' && Peek(1) != '.') {  // "1..32" is a range.
    token_.kind = Token::Kind::kFloat;
    token_.text += '.';
    Advance();
    digits();
  }
  const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
  if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(1 + sign))) {
    token_.kind = Token::Kind::kFloat;
    for (size_t i = 0; i < 1 + sign; ++i) {
      token_.text += Peek();
      Advance();
    }
    digits();
  }
}

void Lexer::ReadQuoted() {
  token_.kind = Token::Kind::kQuoted;
  const auto bad = [&](std::string_view what) {
    token_.kind = Token::Kind::kBad;
    token_.text = std::string(what);
  };
  Advance();
  while (Peek() != '"') {
    if (at_ >= text_.size() || Peek() == '\n')
      return bad("a quoted name does not end");
    if (Peek() == '\\') {
      Advance();
      if (Peek() == 'x' && HexDigit(Peek(1)) >= 0 && HexDigit(Peek(2)) >= 0) {
        token_.text +=
            static_cast<char>(HexDigit(Peek(1)) * 16 + HexDigit(Peek(2)));
        Advance();
        Advance();
        Advance();
        continue;
      }
      if (Peek() != '"' && Peek() != '\\')
        return bad("in a quoted name \\ is followed by \", \\ or xHH");
    }
    token_.text += Peek();
    Advance();
  }
  Advance();
}

absl::Status Lexer::Error(std::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat("line ", token_.line,
                                                 ", column ", token_.column,
                                                 ": ", std::string(what)));
}

absl::Status Lexer::Expected(std::string_view wanted) const {
  if (token_.kind == Token::Kind::kBad) return Error(token_.text);
  const std::string found = token_.kind == Token::Kind::kEnd
                                ? "the end"
                                : absl::StrCat("'", token_.text, "'");
  return Error(
      absl::StrCat("expected ", std::string(wanted), ", found ", found));
}

}  // namespace tilewright

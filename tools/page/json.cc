#include "tools/page/json.h"

#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tilewright::tools {
namespace {

std::string Quoted(absl::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += absl::StrFormat("\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

Json& Json::Separate() {
  if (!first_) text_ += ", ";
  first_ = false;
  return *this;
}

Json& Json::Open(char bracket) {
  Separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

Json& Json::Close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

Json& Json::Key(absl::string_view key) {
  Separate();
  absl::StrAppend(&text_, Quoted(key), ": ");
  first_ = true;
  return *this;
}

Json& Json::Text(absl::string_view value) {
  Separate();
  text_ += Quoted(value);
  return *this;
}

Json& Json::Int(int64_t value) {
  Separate();
  absl::StrAppend(&text_, value);
  return *this;
}

Json& Json::Number(double value) {
  Separate();
  text_ += std::isfinite(value) ? absl::StrFormat("%.9g", value) : "null";
  return *this;
}

Json& Json::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

Json& Json::Raw(absl::string_view json) {
  Separate();
  absl::StrAppend(&text_, json);
  return *this;
}

}  // namespace tilewright::tools

// Writes one JSON value, piece by piece, in the order of the calls.
#ifndef TILEWRIGHT_TOOLS_PAGE_JSON_H_
#define TILEWRIGHT_TOOLS_PAGE_JSON_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tilewright::tools {

// Json().Open('{').Key("runs").Int(3).Close('}').text()
class Json {
 public:
  Json& Open(char bracket);   // '{' or '['
  Json& Close(char bracket);  // '}' or ']'
  Json& Key(absl::string_view key);
  Json& Text(absl::string_view value);
  Json& Int(int64_t value);
  Json& Number(double value);  // null if not finite
  Json& Bool(bool value);
  Json& Raw(absl::string_view json);  // a value that is JSON already

  const std::string& text() const { return text_; }

 private:
  Json& Separate();
  std::string text_;
  bool first_ = true;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PAGE_JSON_H_

// Takes words of the text form one after another. Private to text_form.
#ifndef TILEWRIGHT_TILEGRAPH_TEXT_TEXT_READER_H_
#define TILEWRIGHT_TILEGRAPH_TEXT_TEXT_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/text/text_lexer.h"

namespace tilewright {

// Stands at a token. Take moves on, or says what was expected there; TakeIf
// moves on if the token is that one.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : lexer_(text) {}

  const Token& token() const { return lexer_.token(); }
  void Next() { lexer_.Next(); }
  // A copy remembers a place for an error.
  const Lexer& place() const { return lexer_; }
  absl::Status Error(std::string_view what) const { return lexer_.Error(what); }
  absl::Status Expected(std::string_view wanted) const {
    return lexer_.Expected(wanted);
  }

  absl::Status Take(std::string_view symbol);
  bool TakeIf(std::string_view symbol);
  bool TakeWordIf(std::string_view word);
  // `what` is for the error.
  absl::StatusOr<std::string> TakeName(std::string_view what);
  absl::StatusOr<int64_t> TakeInteger(std::string_view what);
  absl::StatusOr<DType> TakeDType();
  // `item` until `close`, separated by commas.
  template <typename Item>
  absl::Status TakeList(std::string_view close, Item item) {
    if (TakeIf(close)) return absl::OkStatus();
    do {
      TW_RETURN_IF_ERROR(item());
    } while (TakeIf(","));
    return Take(close);
  }

 private:
  Lexer lexer_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TEXT_TEXT_READER_H_

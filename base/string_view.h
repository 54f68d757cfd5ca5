#ifndef TILEWRIGHT_BASE_STRING_VIEW_H_
#define TILEWRIGHT_BASE_STRING_VIEW_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace tilewright {

// Debian builds Abseil with a string_view of its own, which does not convert to
// std::string_view or back. Our interfaces use std::string_view; around calls
// of Abseil:
//
//   absl::StrCat("no operator ", ToAbsl(name))
//   ToStd(status.message())

inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_STRING_VIEW_H_

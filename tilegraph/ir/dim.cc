#include "tilegraph/ir/dim.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright {

Dim Dim::Symbol(std::string name, int64_t min, int64_t max) {
  TW_CHECK(!name.empty()) << "a symbolic extent needs a name";
  Dim dim;
  dim.name_ = std::move(name);
  dim.min_ = min;
  dim.max_ = max;
  return dim;
}

int64_t Dim::value() const {
  TW_CHECK(is_static()) << "extent " << ToString() << " is symbolic";
  return min_;
}

std::string Dim::ToString() const {
  if (is_static()) return absl::StrCat(min_);
  return absl::StrCat(name_, "(", min_, "..", max_, ")");
}

}  // namespace tilewright

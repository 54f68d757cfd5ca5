#include "tilegraph/analysis/known_zeros.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

absl::Status Malformed(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", ToAbsl(text),
                   "' are no known zeros: write (0,1|0,1), the elements before "
                   "and after, one number per dimension"));
}

// Numbers between commas: digits alone, without leading zeros.
std::optional<std::vector<int64_t>> ParseNumbers(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view digits = text.substr(0, comma);
    int64_t number;
    if (!absl::SimpleAtoi(ToAbsl(digits), &number) ||
        digits != absl::StrCat(number))
      return std::nullopt;
    numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return numbers;
}

}  // namespace

bool KnownZeros::empty() const {
  const auto zero = [](int64_t elements) { return elements == 0; };
  return std::all_of(before.begin(), before.end(), zero) &&
         std::all_of(after.begin(), after.end(), zero);
}

std::string KnownZeros::ToString() const {
  return absl::StrCat("(", absl::StrJoin(before, ","), "|",
                      absl::StrJoin(after, ","), ")");
}

absl::StatusOr<KnownZeros> KnownZeros::Parse(std::string_view text,
                                             absl::Span<const int64_t> shape) {
  const size_t bar = text.find('|');
  if (bar == std::string_view::npos || text.front() != '(' ||
      text.back() != ')' || bar == 0)
    return Malformed(text);
  std::optional<std::vector<int64_t>> before =
      ParseNumbers(text.substr(1, bar - 1));
  std::optional<std::vector<int64_t>> after =
      ParseNumbers(text.substr(bar + 1, text.size() - bar - 2));
  if (!before || !after) return Malformed(text);
  KnownZeros zeros{*std::move(before), *std::move(after)};
  if (zeros.before.size() != shape.size() ||
      zeros.after.size() != shape.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", ToAbsl(text),
                     "' has not one number before and one "
                     "after for each of ",
                     shape.size(), " dimensions"));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (zeros.before[d] < 0 || zeros.after[d] < 0 ||
        zeros.before[d] > shape[d] || zeros.after[d] > shape[d] ||
        zeros.before[d] + zeros.after[d] > shape[d]) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", ToAbsl(text), "' does not fit dimension ", d,
                       " of ", shape[d], " elements"));
    }
  }
  return zeros;
}

void FillKnownZeros(const KnownZeros& zeros, HostTensor& values) {
  const std::vector<int64_t>& shape = values.shape();
  TW_CHECK_EQ(zeros.before.size(), shape.size());
  TW_CHECK_EQ(zeros.after.size(), shape.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t k = 0; k < values.num_elements(); ++k) {
    bool zero = false;
    for (size_t d = 0; d < shape.size(); ++d)
      zero |=
          index[d] < zeros.before[d] || index[d] >= shape[d] - zeros.after[d];
    if (zero) values.Set(k, {0, 0});
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

void FillKnownZeros(const std::map<TensorId, KnownZeros>& zeros,
                    std::map<TensorId, HostTensor>& values) {
  for (const auto& [id, known] : zeros) {
    const auto found = values.find(id);
    if (found != values.end()) FillKnownZeros(known, found->second);
  }
}

}  // namespace tilewright

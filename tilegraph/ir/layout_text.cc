// The text form of a Layout, e.g. "(1, 64, 56, 56) [d0, d1/16, d2, d3, d1%16]
// pad(0, 0, 1, 1 | 0, 0, 1, 1)=zero". A digit without % reaches to the end of
// its dimension. A strided one: "(4, 8) [d0*64, d1] at 8 of 256", where digits
// without * move by one element.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {
namespace {

int64_t ToTheEnd(const Layout::Digit& digit, int64_t range) {
  return std::max<int64_t>(1, (range + digit.div - 1) / digit.div);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool Eat(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool EatWord(std::string_view word) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool Number(int64_t& value) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    size_t start = at_;
    for (value = 0; at_ < text_.size() && text_[at_] >= '0' &&
                    text_[at_] <= '9' && at_ - start < 18;
         ++at_)
      value = value * 10 + (text_[at_] - '0');
    return at_ > start;
  }
  // Numbers with commas between them, up to `end`.
  bool List(char end, std::vector<int64_t>& values) {
    if (Eat(end)) return true;
    do {
      if (!Number(values.emplace_back())) return false;
    } while (Eat(','));
    return Eat(end);
  }
  bool AtEnd() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }
  absl::Status Error(absl::string_view wanted) const {
    return absl::InvalidArgumentError(
        absl::StrCat("layout: expected ", wanted, " at column ", at_ + 1));
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string Layout::ToString() const {
  std::vector<std::string> parts;
  const bool dense = is_dense();
  for (size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
    std::string part = absl::StrCat("d", digit.dim);
    if (digit.div != 1) absl::StrAppend(&part, "/", digit.div);
    int64_t range =
        shape_[digit.dim] + pad_before_[digit.dim] + pad_after_[digit.dim];
    if (digit.extent != ToTheEnd(digit, range))
      absl::StrAppend(&part, "%", digit.extent);
    if (!dense && strides_[i] != 1) absl::StrAppend(&part, "*", strides_[i]);
    parts.push_back(std::move(part));
  }
  std::string text = absl::StrCat("(", absl::StrJoin(shape_, ", "), ") [",
                                  absl::StrJoin(parts, ", "), "]");
  auto some = [](const std::vector<int64_t>& v) {
    return std::any_of(v.begin(), v.end(), [](int64_t x) { return x != 0; });
  };
  if (some(pad_before_) || some(pad_after_) || fill_ == Fill::kZero) {
    absl::StrAppend(&text, " pad(", absl::StrJoin(pad_before_, ", "), " | ",
                    absl::StrJoin(pad_after_, ", "), ")",
                    fill_ == Fill::kZero ? "=zero" : "");
  }
  if (!dense) absl::StrAppend(&text, " at ", base_, " of ", physical_elements_);
  return text;
}

absl::StatusOr<Layout> Layout::Parse(std::string_view text) {
  Parser parser(text);
  std::vector<int64_t> shape, before, after;
  if (!parser.Eat('(') || !parser.List(')', shape))
    return parser.Error("a shape in parentheses");
  if (!parser.Eat('[')) return parser.Error("'['");
  std::vector<Digit> digits;
  std::vector<int64_t> strides;
  if (!parser.Eat(']')) {
    do {
      int64_t dim;
      Digit& digit = digits.emplace_back();
      if (!parser.Eat('d') || !parser.Number(dim))
        return parser.Error("a digit such as d1/16%4");
      if (dim >= static_cast<int64_t>(shape.size()))
        return parser.Error(absl::StrCat("a dimension below ", shape.size()));
      digit.dim = static_cast<int>(dim);
      digit.extent = 0;
      if (parser.Eat('/') && (!parser.Number(digit.div) || digit.div < 1))
        return parser.Error("a divisor of at least 1");
      if (parser.Eat('%') && (!parser.Number(digit.extent) || digit.extent < 1))
        return parser.Error("a modulus of at least 1");
      int64_t& stride = strides.emplace_back(1);
      if (parser.Eat('*') && (!parser.Number(stride) || stride < 1))
        return parser.Error("a stride of at least 1");
    } while (parser.Eat(','));
    if (!parser.Eat(']')) return parser.Error("']'");
  }
  Fill fill = Fill::kUndefined;
  if (parser.EatWord("pad")) {
    if (!parser.Eat('(') || !parser.List('|', before) ||
        !parser.List(')', after))
      return parser.Error("paddings as pad(0, 1 | 0, 1)");
    if (parser.Eat('=')) {
      if (!parser.EatWord("zero")) return parser.Error("'zero'");
      fill = Fill::kZero;
    }
  } else {
    before.assign(shape.size(), 0);
    after.assign(shape.size(), 0);
  }
  int64_t base = 0, elements = 0;
  const bool strided = parser.EatWord("at");
  if (strided && (!parser.Number(base) || !parser.EatWord("of") ||
                  !parser.Number(elements)))
    return parser.Error("a place as 'at 0 of 64'");
  if (!parser.AtEnd()) return parser.Error("the end");
  if (!strided && std::any_of(strides.begin(), strides.end(),
                              [](int64_t stride) { return stride != 1; }))
    return absl::InvalidArgumentError(
        "layout: strides need a place as 'at 0 of 64'");
  if (before.size() != shape.size() || after.size() != shape.size())
    return parser.Error("one padding per dimension");
  for (Digit& digit : digits) {
    if (digit.extent == 0)
      digit.extent = ToTheEnd(
          digit, shape[digit.dim] + before[digit.dim] + after[digit.dim]);
  }
  if (strided) {
    return Strided(std::move(shape), std::move(before), std::move(after),
                   std::move(digits), std::move(strides), base, elements, fill);
  }
  return Create(std::move(shape), std::move(before), std::move(after),
                std::move(digits), fill);
}

}  // namespace tilewright

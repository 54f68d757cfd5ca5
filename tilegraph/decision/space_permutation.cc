#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/string_view.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/space_rep.h"

namespace tilewright {
namespace {

class PermutationRep : public Space::Rep {
 public:
  explicit PermutationRep(std::vector<std::string> names)
      : Rep(Space::Kind::kPermutation, names.size()), names_(std::move(names)) {
    TW_CHECK(!names_.empty());
    CheckNames(names_, kNameCharacters);
  }

  double size() const override {
    double product = 1;
    for (size_t i = 2; i <= length; ++i) product *= static_cast<double>(i);
    return product;
  }

  bool Contains(Value value) const override {
    return CountKeepable(value, std::vector<bool>(length)) == length;
  }

  void Draw(Random& random, absl::Span<int64_t> value) const override {
    std::iota(value.begin(), value.end(), 0);
    random.Shuffle(value);
  }

  // As many positions as can be keep their name; then the least such order.
  void Nearest(Value value, absl::Span<int64_t> nearest) const override {
    std::vector<bool> used(length);
    size_t keepable = CountKeepable(value, used);
    for (size_t i = 0; i < length; ++i) {
      for (int64_t name = 0; name < count(); ++name) {
        if (used[name]) continue;
        used[name] = true;
        const size_t behind = CountKeepable(value.subspan(i + 1), used);
        if (behind + (value[i] == name ? 1 : 0) == keepable) {
          nearest[i] = name;
          keepable = behind;
          break;
        }
        used[name] = false;
      }
    }
  }

  // How many positions hold another name.
  double Distance(Value value, Value member) const override {
    double distance = 0;
    for (size_t i = 0; i < length; ++i) distance += value[i] != member[i];
    return distance;
  }

  std::vector<DecisionValue> NeighbourCandidates(Value value) const override {
    std::vector<DecisionValue> candidates;
    for (size_t i = 1; i < length; ++i) {
      DecisionValue& exchanged =
          candidates.emplace_back(value.begin(), value.end());
      std::swap(exchanged[i - 1], exchanged[i]);
    }
    return candidates;
  }

  bool ForEach(Visit visit) const override {
    DecisionValue value(length);
    std::iota(value.begin(), value.end(), 0);
    do {
      if (!visit(value)) return false;
    } while (std::next_permutation(value.begin(), value.end()));
    return true;
  }

  std::string ToString() const override {
    return absl::StrCat("permutation of ", absl::StrJoin(names_, ", "));
  }

  std::string Print(Value value) const override {
    std::string text = "(";
    for (size_t i = 0; i < length; ++i) {
      TW_CHECK(value[i] >= 0 && value[i] < count()) << value[i];
      absl::StrAppend(&text, i == 0 ? "" : ", ", names_[value[i]]);
    }
    return text + ")";
  }

  absl::StatusOr<DecisionValue> Parse(std::string_view text) const override {
    const absl::Status refused = absl::InvalidArgumentError(
        absl::StrCat("'", ToAbsl(text), "' is no order of names, such as (",
                     absl::StrJoin(names_, ", "), ")"));
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') {
      return refused;
    }
    DecisionValue value;
    for (absl::string_view word :
         absl::StrSplit(ToAbsl(text.substr(1, text.size() - 2)), ',')) {
      const auto it = std::find(names_.begin(), names_.end(),
                                ToStd(absl::StripAsciiWhitespace(word)));
      value.push_back(it - names_.begin());
    }
    if (value.size() != length || !Contains(value)) return refused;
    return value;
  }

 private:
  int64_t count() const { return static_cast<int64_t>(length); }

  // How many of these positions can keep their name, where names stand once and
  // some are used.
  size_t CountKeepable(Value positions, std::vector<bool> used) const {
    size_t keepable = 0;
    for (const int64_t name : positions) {
      if (name < 0 || name >= count() || used[name]) continue;
      used[name] = true;
      ++keepable;
    }
    return keepable;
  }

  const std::vector<std::string> names_;
};

}  // namespace

Space Space::Permutation(std::vector<std::string> names) {
  return Space(std::make_shared<PermutationRep>(std::move(names)));
}

}  // namespace tilewright

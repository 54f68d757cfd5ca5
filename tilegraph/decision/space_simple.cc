// One-of and integers.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/string_view.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/space_rep.h"

namespace tilewright {
namespace {

class OneOfRep : public Space::Rep {
 public:
  explicit OneOfRep(std::vector<std::string> options)
      : Rep(Space::Kind::kOneOf, 1), options(std::move(options)) {
    TW_CHECK(!this->options.empty());
    CheckNames(this->options, kOptionCharacters);
  }

  const std::vector<std::string> options;

  double size() const override { return static_cast<double>(options.size()); }

  bool Contains(Value value) const override {
    return value[0] >= 0 && value[0] < count();
  }

  void Draw(Random& random, absl::Span<int64_t> value) const override {
    value[0] = static_cast<int64_t>(random.Index(options.size()));
  }

  // All others lie equally far.
  void Nearest(Value value, absl::Span<int64_t> nearest) const override {
    nearest[0] = Contains(value) ? value[0] : 0;
  }

  double Distance(Value value, Value member) const override {
    return value[0] == member[0] ? 0 : 1;
  }

  std::vector<DecisionValue> NeighbourCandidates(Value) const override {
    std::vector<DecisionValue> all;
    for (int64_t i = 0; i < count(); ++i) all.push_back({i});
    return all;
  }

  bool ForEach(Visit visit) const override {
    for (int64_t i = 0; i < count(); ++i) {
      if (!visit({i})) return false;
    }
    return true;
  }

  std::string ToString() const override {
    return absl::StrCat("one of ", absl::StrJoin(options, ", "));
  }

  std::string Print(Value value) const override {
    TW_CHECK(Contains(value)) << value[0] << " of " << ToString();
    return options[value[0]];
  }

  absl::StatusOr<DecisionValue> Parse(std::string_view text) const override {
    const auto it = std::find(options.begin(), options.end(), text);
    if (it == options.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", ToAbsl(text), "' is none of the options ",
                       absl::StrJoin(options, ", ")));
    }
    return DecisionValue{it - options.begin()};
  }

 private:
  int64_t count() const { return static_cast<int64_t>(options.size()); }
};

class IntegersRep : public Space::Rep {
 public:
  IntegersRep(int64_t least, int64_t most)
      : Rep(Space::Kind::kIntegers, 1), least_(least), most_(most) {
    TW_CHECK_LE(least, most);
  }

  double size() const override {
    return static_cast<double>(most_) - static_cast<double>(least_) + 1;
  }

  bool Contains(Value value) const override {
    return value[0] >= least_ && value[0] <= most_;
  }

  void Draw(Random& random, absl::Span<int64_t> value) const override {
    value[0] = random.UniformInt(least_, most_);
  }

  void Nearest(Value value, absl::Span<int64_t> nearest) const override {
    nearest[0] = std::clamp(value[0], least_, most_);
  }

  double Distance(Value value, Value member) const override {
    return NumberDistance(value[0], member[0]);
  }

  std::vector<DecisionValue> NeighbourCandidates(Value value) const override {
    const int64_t n = value[0];
    std::vector<DecisionValue> candidates;
    if (n > least_) candidates.push_back({n - 1});
    if (n < most_) candidates.push_back({n + 1});
    candidates.push_back({n / 2});
    int64_t doubled = 0;
    if (!__builtin_mul_overflow(n, 2, &doubled)) {
      candidates.push_back({doubled});
    }
    return candidates;
  }

  bool ForEach(Visit visit) const override {
    for (int64_t n = least_;; ++n) {
      if (!visit({n})) return false;
      if (n == most_) return true;
    }
  }

  std::string ToString() const override {
    return absl::StrCat("integers ", least_, "..", most_);
  }

  std::string Print(Value value) const override {
    return absl::StrCat(value[0]);
  }

  absl::StatusOr<DecisionValue> Parse(std::string_view text) const override {
    int64_t n = 0;
    if (!absl::SimpleAtoi(ToAbsl(text), &n)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", ToAbsl(text), "' is no integer (", ToString(), ")"));
    }
    return DecisionValue{n};
  }

 private:
  const int64_t least_, most_;
};

}  // namespace

Space Space::OneOf(std::vector<std::string> options) {
  return Space(std::make_shared<OneOfRep>(std::move(options)));
}

Space Space::Integers(int64_t least, int64_t most) {
  return Space(std::make_shared<IntegersRep>(least, most));
}

const std::vector<std::string>& Space::options() const {
  TW_CHECK(kind() == Kind::kOneOf) << ToString() << " has no options";
  return static_cast<const OneOfRep&>(*rep_).options;
}

}  // namespace tilewright

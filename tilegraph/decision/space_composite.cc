#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/space_rep.h"

namespace tilewright {
namespace {

constexpr double kMostListed = 1 << 20;
// How often a value is drawn from all parts before admitted ones are counted.
constexpr int kDraws = 64;

size_t TotalLength(const std::vector<Space::Part>& parts) {
  size_t length = 0;
  for (const Space::Part& part : parts) length += part.space.rep().length;
  return length;
}

// Pieces between commas outside braces, without the blanks beside them.
std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  for (std::string& piece : pieces) absl::StripAsciiWhitespace(&piece);
  return pieces;
}

class CompositeRep : public Space::Rep {
 public:
  CompositeRep(std::vector<Space::Part> parts, Space::Admits admits)
      : Rep(Space::Kind::kComposite, TotalLength(parts)),
        parts_(std::move(parts)),
        admits_(std::move(admits)) {
    TW_CHECK(!parts_.empty());
    std::vector<std::string> names;
    for (const Space::Part& part : parts_) names.push_back(part.name);
    CheckNames(names, kNameCharacters);
  }

  double size() const override {
    if (!admits_) return Unrestricted();
    std::call_once(counted_, [&] {
      ForEach([&](Value) {
        ++admitted_;
        return true;
      });
    });
    return admitted_;
  }

  bool Contains(Value value) const override {
    size_t at = 0;
    for (const Space::Part& part : parts_) {
      const Rep& rep = part.space.rep();
      if (!rep.Contains(value.subspan(at, rep.length))) return false;
      at += rep.length;
    }
    return Admits(value);
  }

  void Draw(Random& random, absl::Span<int64_t> value) const override {
    for (int i = 0; i < kDraws; ++i) {
      size_t at = 0;
      for (const Space::Part& part : parts_) {
        const Rep& rep = part.space.rep();
        rep.Draw(random, value.subspan(at, rep.length));
        at += rep.length;
      }
      if (Admits(value)) return;
    }
    TW_CHECK_GT(size(), 0) << ToString() << " admits no value";
    size_t skipped = random.Index(static_cast<size_t>(size()));
    ForEach([&](Value member) {
      std::copy(member.begin(), member.end(), value.begin());
      return skipped-- > 0;
    });
  }

  void Nearest(Value value, absl::Span<int64_t> nearest) const override {
    if (Contains(value)) {
      std::copy(value.begin(), value.end(), nearest.begin());
      return;
    }
    size_t at = 0;
    for (const Space::Part& part : parts_) {
      const Rep& rep = part.space.rep();
      rep.Nearest(value.subspan(at, rep.length),
                  nearest.subspan(at, rep.length));
      at += rep.length;
    }
    if (Admits(nearest)) return;
    double best = std::numeric_limits<double>::infinity();
    ForEach([&](Value member) {
      const double distance = Distance(value, member);
      if (distance < best - kEqualDistance) {
        best = distance;
        std::copy(member.begin(), member.end(), nearest.begin());
      }
      return true;
    });
    TW_CHECK(best < std::numeric_limits<double>::infinity())
        << ToString() << " admits no value";
  }

  double Distance(Value value, Value member) const override {
    double distance = 0;
    size_t at = 0;
    for (const Space::Part& part : parts_) {
      const Rep& rep = part.space.rep();
      distance += rep.Distance(value.subspan(at, rep.length),
                               member.subspan(at, rep.length));
      at += rep.length;
    }
    return distance;
  }

  std::vector<DecisionValue> NeighbourCandidates(Value value) const override {
    std::vector<DecisionValue> candidates;
    size_t at = 0;
    for (const Space::Part& part : parts_) {
      const Rep& rep = part.space.rep();
      for (const DecisionValue& near :
           rep.NeighbourCandidates(value.subspan(at, rep.length))) {
        DecisionValue& candidate =
            candidates.emplace_back(value.begin(), value.end());
        std::copy(near.begin(), near.end(), candidate.begin() + at);
      }
      at += rep.length;
    }
    return candidates;
  }

  bool ForEach(Visit visit) const override {
    if (admits_) {
      TW_CHECK_LE(Unrestricted(), kMostListed)
          << ToString() << " has too many values to be listed";
    }
    DecisionValue value(length);
    return ForEachFrom(0, 0, value, visit);
  }

  std::string ToString() const override {
    std::vector<std::string> parts;
    for (const Space::Part& part : parts_) {
      parts.push_back(absl::StrCat(part.name, ": ", part.space.ToString()));
    }
    return absl::StrCat("{", absl::StrJoin(parts, "; "), "}",
                        admits_ ? " where admitted" : "");
  }

  std::string Print(Value value) const override {
    std::string text;
    size_t at = 0;
    for (const Space::Part& part : parts_) {
      const Rep& rep = part.space.rep();
      const std::string printed = rep.Print(value.subspan(at, rep.length));
      absl::StrAppend(&text, at == 0 ? "" : ", ", part.name, " ",
                      IsNested(part) ? "{" : "", printed,
                      IsNested(part) ? "}" : "");
      at += rep.length;
    }
    return text;
  }

  absl::StatusOr<DecisionValue> Parse(std::string_view text) const override {
    std::vector<std::string> texts;  // of the parts so far
    for (const std::string& piece : SplitAtCommas(text)) {
      absl::string_view rest = piece;
      const bool begins_part =
          texts.size() < parts_.size() &&
          absl::ConsumePrefix(&rest, parts_[texts.size()].name) &&
          !rest.empty() && absl::ascii_isspace(rest[0]);
      if (begins_part) {
        texts.emplace_back(absl::StripLeadingAsciiWhitespace(rest));
      } else if (!texts.empty()) {
        absl::StrAppend(&texts.back(), ", ", piece);  // of a permutation
      } else {
        return WrongForm(text);
      }
    }
    if (texts.size() != parts_.size()) return WrongForm(text);
    DecisionValue value;
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::string_view part = texts[i];
      if (IsNested(parts_[i])) {
        if (part.size() < 2 || part.front() != '{' || part.back() != '}') {
          return WrongForm(text);
        }
        part = part.substr(1, part.size() - 2);
      }
      TW_ASSIGN_OR_RETURN(const DecisionValue numbers,
                          parts_[i].space.Parse(part));
      value.insert(value.end(), numbers.begin(), numbers.end());
    }
    return value;
  }

 private:
  static bool IsNested(const Space::Part& part) {
    return part.space.kind() == Space::Kind::kComposite;
  }

  bool Admits(Value value) const {
    return !admits_ || admits_(DecisionValue(value.begin(), value.end()));
  }

  double Unrestricted() const {
    double product = 1;
    for (const Space::Part& part : parts_) product *= part.space.size();
    return product;
  }

  // Values of the parts from `part` on, whose numbers begin at `at`.
  bool ForEachFrom(size_t part, size_t at, DecisionValue& value,
                   Visit visit) const {
    if (part == parts_.size())
      return admits_ && !admits_(value) ? true : visit(value);
    return parts_[part].space.rep().ForEach([&](Value numbers) {
      std::copy(numbers.begin(), numbers.end(), value.begin() + at);
      return ForEachFrom(part + 1, at + numbers.size(), value, visit);
    });
  }

  absl::Status WrongForm(std::string_view text) const {
    std::vector<std::string> forms;
    for (const Space::Part& part : parts_) {
      forms.push_back(part.name + (IsNested(part) ? " {...}" : " ..."));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "'", ToAbsl(text), "' is not ", absl::StrJoin(forms, ", ")));
  }

  const std::vector<Space::Part> parts_;
  const Space::Admits admits_;
  mutable std::once_flag counted_;
  mutable double admitted_ = 0;
};

}  // namespace

Space Space::Composite(std::vector<Part> parts, Admits admits) {
  return Space(
      std::make_shared<CompositeRep>(std::move(parts), std::move(admits)));
}

}  // namespace tilewright

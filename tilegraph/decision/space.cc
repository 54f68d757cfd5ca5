#include "tilegraph/decision/space.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/check.h"
#include "base/string_view.h"
#include "tilegraph/decision/space_rep.h"

namespace tilewright {

Space::Kind Space::kind() const { return rep_->kind; }

double Space::size() const { return rep_->size(); }

bool Space::Contains(const DecisionValue& value) const {
  return value.size() == rep_->length && rep_->Contains(value);
}

DecisionValue Space::Draw(Random& random) const {
  DecisionValue value(rep_->length);
  rep_->Draw(random, absl::MakeSpan(value));
  return value;
}

DecisionValue Space::Nearest(const DecisionValue& value) const {
  if (value.size() != rep_->length) return Values(1).front();
  DecisionValue nearest(rep_->length);
  rep_->Nearest(value, absl::MakeSpan(nearest));
  return nearest;
}

std::vector<DecisionValue> Space::Neighbours(const DecisionValue& value) const {
  TW_CHECK(Contains(value)) << "of " << ToString();
  std::vector<DecisionValue> neighbours;
  for (DecisionValue& candidate : rep_->NeighbourCandidates(value)) {
    if (candidate == value || !rep_->Contains(candidate) ||
        std::find(neighbours.begin(), neighbours.end(), candidate) !=
            neighbours.end()) {
      continue;
    }
    neighbours.push_back(std::move(candidate));
  }
  return neighbours;
}

std::vector<DecisionValue> Space::Values(size_t most) const {
  std::vector<DecisionValue> values;
  if (most == 0) return values;
  rep_->ForEach([&](Rep::Value value) {
    values.emplace_back(value.begin(), value.end());
    return values.size() < most;
  });
  TW_CHECK(!values.empty()) << ToString() << " admits no value";
  return values;
}

std::string Space::ToString() const { return rep_->ToString(); }

std::string Space::Print(const DecisionValue& value) const {
  TW_CHECK_EQ(value.size(), rep_->length) << "of " << ToString();
  return rep_->Print(value);
}

absl::StatusOr<DecisionValue> Space::Parse(std::string_view text) const {
  return rep_->Parse(ToStd(absl::StripAsciiWhitespace(ToAbsl(text))));
}

double NumberDistance(int64_t a, int64_t b) {
  // Numbers below 1 have no logarithm: 0 lies one octave below 1, and each next
  // one lies one further down.
  const auto octave = [](int64_t n) {
    return n > 0 ? std::log2(static_cast<double>(n))
                 : static_cast<double>(n) - 1;
  };
  return std::abs(octave(a) - octave(b));
}

void CheckNames(const std::vector<std::string>& names,
                std::string_view others) {
  for (size_t i = 0; i < names.size(); ++i) {
    TW_CHECK(!names[i].empty()) << "name " << i << " is empty";
    for (const char c : names[i]) {
      TW_CHECK(absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               others.find(c) != std::string_view::npos)
          << "'" << names[i] << "' has a character that names do not have";
    }
    for (size_t j = 0; j < i; ++j) {
      TW_CHECK(names[i] != names[j]) << "'" << names[i] << "' stands twice";
    }
  }
}

}  // namespace tilewright

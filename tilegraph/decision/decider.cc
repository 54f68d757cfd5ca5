#include "tilegraph/decision/decider.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/string_view.h"

namespace tilewright {

DecisionValue Decider::Decide(std::string_view name, const Space& space,
                              Prefer preferred, Bits bits) {
  std::string full = absl::StrCat(prefix_, ToAbsl(name));
  TW_CHECK(full.find_first_of("=# \t\r\n\v\f") == std::string::npos &&
           !name.empty())
      << "a decision cannot be named '" << full << "'";
  for (const Decision& decision : table_) {
    TW_CHECK(decision.name != full) << full << " is decided twice";
  }
  DecisionValue value = policy_.Answer(full, space, preferred);
  TW_CHECK(space.Contains(value))
      << "decision " << full << ": (" << absl::StrJoin(value, ", ")
      << ") is no member of " << space.ToString();
  table_.push_back({std::move(full), space, value, bits});
  return value;
}

int64_t Decider::DecideNumber(std::string_view name, const Space& space,
                              absl::FunctionRef<int64_t()> preferred,
                              Bits bits) {
  const DecisionValue value = Decide(
      name, space, [&] { return DecisionValue{preferred()}; }, bits);
  TW_CHECK_EQ(value.size(), 1) << "of " << ToAbsl(name);
  return value[0];
}

bool Decider::DecideWhether(std::string_view name,
                            absl::FunctionRef<bool()> preferred, Bits bits) {
  static const Space& no_or_yes = *new Space(Space::OneOf({"no", "yes"}));
  return DecideNumber(
             name, no_or_yes, [&] { return preferred() ? 1 : 0; }, bits) == 1;
}

Decider::Scope::Scope(Decider& decider, std::string_view prefix)
    : decider_(decider), outer_length_(decider.prefix_.size()) {
  absl::StrAppend(&decider_.prefix_, ToAbsl(prefix), ".");
}

Decider::Scope::~Scope() { decider_.prefix_.resize(outer_length_); }

Decider::Trial::~Trial() {
  if (keep_) return;
  DecisionTable& table = decider_.table_;
  TW_CHECK_LE(first_, table.size());
  table.erase(table.begin() + first_, table.end());
}

}  // namespace tilewright

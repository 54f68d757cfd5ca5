#include "tilegraph/decision/policies.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/fingerprint.h"
#include "base/random.h"

namespace tilewright {

DecisionValue PreferredPolicy::Answer(const std::string&, const Space&,
                                      Prefer preferred) {
  return preferred();
}

DecisionValue RandomPolicy::Answer(const std::string& name, const Space& space,
                                   Prefer) {
  Random random(Fingerprinter()
                    .AddInt(seed_)
                    .AddString(name)
                    .AddString(space.ToString())
                    .Finish()
                    .low);
  return space.Draw(random);
}

TablePolicy::TablePolicy(Answers answers, DecisionPolicy& rest)
    : answers_(std::move(answers)), rest_(rest) {}

DecisionValue TablePolicy::Answer(const std::string& name, const Space& space,
                                  Prefer preferred) {
  const auto asked = answers_.find(name);
  if (asked == answers_.end()) return rest_.Answer(name, space, preferred);
  used_.insert(name);
  const absl::StatusOr<DecisionValue> parsed = space.Parse(asked->second);
  if (parsed.ok() && space.Contains(*parsed)) {
    rounded_.erase(name);
    return *parsed;
  }
  DecisionValue value = parsed.ok() ? space.Nearest(*parsed)
                                    : rest_.Answer(name, space, preferred);
  rounded_[name] = absl::StrCat(
      name, " = ", asked->second, ": ",
      parsed.ok() ? absl::StrCat("outside ", space.ToString())
                  : std::string(parsed.status().message()),
      ", taken as ", space.Contains(value) ? space.Print(value) : "no member");
  return value;
}

std::vector<std::string> TablePolicy::Rounded() const {
  std::vector<std::string> lines;
  for (const auto& [name, line] : rounded_) lines.push_back(line);
  return lines;
}

std::vector<std::string> TablePolicy::Unused() const {
  std::vector<std::string> names;
  for (const auto& [name, text] : answers_) {
    if (used_.count(name) == 0) names.push_back(name);
  }
  return names;
}

DecisionValue EnumeratingPolicy::Answer(const std::string& name,
                                        const Space& space, Prefer) {
  std::vector<DecisionValue> values;
  const auto list_values = [&] {
    if (!values.empty()) return;
    TW_CHECK_LE(space.size(), 1 << 20)
        << "decision " << name << ": too many values to enumerate in "
        << space.ToString();
    values = space.Values(SIZE_MAX);
  };
  for (size_t i = 0; i < asked_; ++i) {
    if (path_[i].name != name) continue;
    list_values();
    if (path_[i].values == values) return path_[i].values[path_[i].index];
  }
  if (asked_ == path_.size()) {
    list_values();
    path_.push_back({name, std::move(values), 0});
  }
  const Branch& branch = path_[asked_++];
  TW_CHECK(branch.name == name) << "equal answers gave first the decision "
                                << branch.name << ", then " << name;
  return branch.values[branch.index];
}

bool EnumeratingPolicy::Next() {
  TW_CHECK_EQ(asked_, path_.size());
  asked_ = 0;
  while (!path_.empty()) {
    if (++path_.back().index < path_.back().values.size()) return true;
    path_.pop_back();
  }
  return false;
}

}  // namespace tilewright

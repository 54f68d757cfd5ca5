#include "tilegraph/decision/table.h"

#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

std::string PrintCount(double count) {
  return count <= 0x1p53 ? absl::StrCat(static_cast<int64_t>(count))
                         : absl::StrCat(count);
}

// Another value of the entry, or none if it has no neighbours.
DecisionValue Change(const Decision& entry, Random& random) {
  const std::vector<DecisionValue> near = entry.space.Neighbours(entry.value);
  if (near.empty()) return {};
  if (random.Bernoulli(0.25)) {
    // Repeated, because a small space often gives the old value.
    for (int i = 0; i < 8; ++i) {
      DecisionValue drawn = entry.space.Draw(random);
      if (drawn != entry.value) return drawn;
    }
  }
  return near[random.Index(near.size())];
}

}  // namespace

Answers AnswersOf(const DecisionTable& table) {
  Answers answers;
  for (const Decision& entry : table) {
    answers[entry.name] = entry.space.Print(entry.value);
  }
  return answers;
}

std::string ToString(const DecisionTable& table) {
  std::string text;
  for (const Decision& entry : table) {
    const double size = entry.space.size();
    if (size == 1) continue;
    absl::StrAppend(
        &text, entry.name, " = ", entry.space.Print(entry.value), "  # ",
        entry.space.ToString(), ", ", PrintCount(size), " values",
        entry.bits == Bits::kMayChange ? ", may change bits" : "", "\n");
  }
  return text;
}

absl::StatusOr<Answers> ParseAnswers(std::string_view text) {
  Answers answers;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(ToAbsl(text), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    const absl::string_view name =
        absl::StripAsciiWhitespace(line.substr(0, equals));
    const absl::string_view value =
        equals == line.npos
            ? absl::string_view()
            : absl::StripAsciiWhitespace(line.substr(equals + 1));
    if (name.empty() || value.empty() ||
        name.find_first_of(" \t\r\v\f") != name.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": '", line, "' is no NAME = VALUE"));
    }
    if (!answers.emplace(name, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", name,
                       " is decided a second time; leave one of both"));
    }
  }
  return answers;
}

Answers Mutate(const DecisionTable& table, int changes, Random& random) {
  Answers answers = AnswersOf(table);
  std::vector<size_t> order(table.size());
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(absl::MakeSpan(order));
  for (const size_t i : order) {
    if (changes <= 0) break;
    const DecisionValue changed = Change(table[i], random);
    if (changed.empty()) continue;
    answers[table[i].name] = table[i].space.Print(changed);
    --changes;
  }
  return answers;
}

Answers Cross(const DecisionTable& a, const DecisionTable& b, Random& random) {
  Answers crossed = AnswersOf(a);
  for (const auto& [name, text] : AnswersOf(b)) {
    const auto [it, alone] = crossed.emplace(name, text);
    if (!alone && random.Bernoulli(0.5)) it->second = text;
  }
  return crossed;
}

double EstimateTables(const DecisionTable& table) {
  double product = 1;
  for (const Decision& entry : table) product *= entry.space.size();
  return product;
}

}  // namespace tilewright

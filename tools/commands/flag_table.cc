#include "tools/commands/flag_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tilewright::tools {
namespace {

using Value = Flag::Value;

constexpr char kOnnxCommands[] =
    "compile run benchmark inspect conformance tune";
constexpr double kMostThreads = 4096;
constexpr double kMostSeconds = 86400;
constexpr double kMostTrials = 1e8;

constexpr Flag kFlags[] = {
    // How to compile: every command that takes an .onnx.
    {"target", Value::kText, "onnx"},
    {"spec", Value::kText, "onnx"},
    {"connect", Value::kText, "onnx", "tilegraph register none"},
    {"threads", Value::kInt, "onnx", "", 1, kMostThreads},
    {"dim", Value::kText, "onnx"},
    {"bind", Value::kText, "onnx"},
    {"allow", Value::kList, "onnx", "winograd4 bf16"},
    {"decisions", Value::kText, "onnx"},
    {"records", Value::kText, "onnx"},
    {"nearest", Value::kNone, "onnx"},
    {"measure", Value::kOptional, "onnx", "", 1, kMostSeconds},
    {"connect-search", Value::kText, "onnx", "edges greedy"},
    {"cost", Value::kText, "onnx", "time traffic"},
    {"level-cap", Value::kText, "onnx"},
    {"daemon", Value::kText, "onnx", "", 0, 0, "the tuning daemon"},
    // Actions.
    {"output", Value::kText, "compile records"},
    {"data", Value::kText, "run"},
    {"input", Value::kText, "run"},
    {"output-dir", Value::kText, "run"},
    {"check", Value::kNone, "run"},
    {"seed", Value::kInt, "run benchmark tune"},
    {"seconds", Value::kDouble, "benchmark", "", 0, kMostSeconds},
    {"profile", Value::kOptional, "benchmark", "all"},
    {"trace", Value::kText, "benchmark tune"},
    {"report", Value::kText, "benchmark inspect"},
    {"what", Value::kText, "inspect",
     "graph plan why decisions schedule kernel source roofline program"},
    {"group", Value::kInt, "inspect", "", 0},
    {"workload", Value::kText, "records"},
    {"verified", Value::kNone, "records"},
    {"json", Value::kNone,
     "compile run benchmark inspect conformance devices records tune"},
    // How to search.
    {"trials", Value::kInt, "tune", "", 1, kMostTrials},
    {"time", Value::kDouble, "tune", "", 1, kMostSeconds},
    {"optimizer", Value::kText, "tune",
     "evolution annealing contextual random grid"},
    {"cost-model", Value::kText, "tune", "gbt forest random"},
    {"crossover", Value::kNone, "tune"},
    {"scheduler", Value::kText, "tune", "gradient roundrobin"},
};

std::vector<std::string> Words(const char* text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

int EditDistance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// "a, b or c".
std::string Alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "),
                      " or ", words.back());
}

absl::Status CheckChoice(const Flag& flag, const std::string& value) {
  const std::vector<std::string> choices = Words(flag.choices);
  if (choices.empty() || Contains(choices, value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag.name, "=", value, ": expected ",
                   Alternatives(choices), Suggestion(value, choices, "", "")));
}

absl::Status CheckNumber(const Flag& flag, const std::string& value) {
  int64_t as_int = 0;
  double number = 0;
  const bool is_number = flag.value == Value::kInt
                             ? absl::SimpleAtoi(value, &as_int)
                             : absl::SimpleAtod(value, &number);
  if (flag.value == Value::kInt) number = static_cast<double>(as_int);
  if (!is_number || std::isnan(number))
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag.name, "=", value, ": not a number"));
  if (number < flag.least || number > flag.most)
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag.name, "=", value, ": expected ", flag.least,
        std::isinf(flag.most) ? " or more" : absl::StrCat(" to ", flag.most)));
  return absl::OkStatus();
}

}  // namespace

std::string Suggestion(const std::string& given,
                       const std::vector<std::string>& known,
                       const std::string& prefix,
                       const std::string& otherwise) {
  std::string best;
  int distance = static_cast<int>(given.size()) / 2 + 1;
  for (const std::string& name : known) {
    const int d = EditDistance(given, name);
    if (d < distance) best = name, distance = d;
  }
  return best.empty() ? otherwise
                      : absl::StrCat("; did you mean '", prefix, best, "'?");
}

absl::StatusOr<Flag> FindFlag(const std::string& name,
                              const std::string& command) {
  std::vector<std::string> known;
  for (const Flag& flag : kFlags) {
    const bool onnx = absl::string_view(flag.commands) == "onnx";
    if (!Contains(Words(onnx ? kOnnxCommands : flag.commands), command))
      continue;
    if (name == flag.name) {
      if (flag.missing == nullptr) return flag;
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " needs ", flag.missing,
                       ", which this build does not have yet"));
    }
    known.push_back(flag.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", command, "' has no flag --", name,
                   Suggestion(name, known, "--", "; see 'tilewright --help'")));
}

absl::Status CheckValue(const Flag& flag, const std::string& value) {
  switch (flag.value) {
    case Value::kNone:
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag.name, " takes no value"));
    case Value::kInt:
    case Value::kDouble:
      return CheckNumber(flag, value);
    case Value::kOptional:
      return *flag.choices != '\0' ? CheckChoice(flag, value)
                                   : CheckNumber(flag, value);
    case Value::kText:
      return CheckChoice(flag, value);
    case Value::kList:
      for (const absl::string_view one : absl::StrSplit(value, ',')) {
        const absl::Status status = CheckChoice(flag, std::string(one));
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace tilewright::tools
